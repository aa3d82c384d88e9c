package org.densitystudy.ycsb;

import java.util.Properties;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import site.ycsb.Workload;
import site.ycsb.WorkloadException;

/** Another workload, whose class a property names, with operations that wait for their time. */
abstract class WrappingWorkload extends Workload {
  private static final long LOOK_NS = TimeUnit.MILLISECONDS.toNanos(100);

  protected Workload workload;

  /** Makes the workload that the property names, and does not initialise it. */
  protected final void wrap(Properties properties, String property) throws WorkloadException {
    String name = properties.getProperty(property, "");
    try {
      workload = instance(name, Workload.class);
    } catch (ReflectiveOperationException | ClassCastException wrong) {
      throw new WorkloadException(property + "=" + name + " is no workload of YCSB", wrong);
    }
  }

  /** A new instance of the class of that name. */
  static <T> T instance(String name, Class<T> kind) throws ReflectiveOperationException {
    return Class.forName(name).asSubclass(kind).getDeclaredConstructor().newInstance();
  }

  /** Returns once no ns are left, and whether that is so: false if the run ends first. */
  protected final boolean waited(LongSupplier leftNs) {
    long nextNs = leftNs.getAsLong();
    while (nextNs > 0) {
      if (isStopRequested()) {
        return false;
      }
      LockSupport.parkNanos(Math.min(nextNs, LOOK_NS));
      nextNs = leftNs.getAsLong();
    }
    return true;
  }

  @Override
  public void requestStop() {
    super.requestStop();
    workload.requestStop();
  }
}
