package org.densitystudy.stores;

import java.util.Properties;
import site.ycsb.DBException;

/** What all threads of a JVM use together: the first one opens it, and the last one closes it. */
public final class Shared<T> {
  /** Opens it. */
  public interface Opening<T> {
    T open(Properties properties) throws DBException;
  }

  /** Closes it. */
  public interface Closing<T> {
    void close(T opened) throws DBException;
  }

  private final Opening<T> opening;
  private final Closing<T> closing;
  private T opened;
  private int holders;

  public Shared(Opening<T> opening, Closing<T> closing) {
    this.opening = opening;
    this.closing = closing;
  }

  public synchronized T acquire(Properties properties) throws DBException {
    if (holders == 0) {
      opened = opening.open(properties);
    }
    holders++;
    return opened;
  }

  public synchronized void release() throws DBException {
    if (--holders == 0) {
      T last = opened;
      opened = null;
      closing.close(last);
    }
  }
}
