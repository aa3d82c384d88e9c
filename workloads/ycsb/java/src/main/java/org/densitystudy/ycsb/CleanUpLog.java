package org.densitystudy.ycsb;

import java.lang.reflect.Method;
import java.util.Properties;
import site.ycsb.DBException;
import site.ycsb.measurements.Measurements;

/**
 * Opens the interval log of CLEANUP before there are several threads.
 *
 * <p>YCSB opens the log of an operation when a thread first measures it. Two threads at the same time
 * open it twice: the second truncates the file, and the next line of the first follows a hole of zeros.
 * For other operations this happens at the start, where only identical headers can be lost. But all
 * threads clean up in the same millisecond, and their lines are written immediately.
 */
public final class CleanUpLog {
  private static final String OPERATION = "CLEANUP";
  private static Measurements opened;

  private CleanUpLog() {}

  /**
   * Called by every thread before its first operation. Measures nothing. Without interval logs, as in
   * YCSB's interactive shell, it does nothing.
   */
  public static synchronized void open(Properties properties) throws DBException {
    if (!Boolean.parseBoolean(properties.getProperty("hdrhistogram.fileoutput"))) {
      return;
    }
    Measurements all = Measurements.getMeasurements();
    if (opened == all) {
      return;
    }
    opened = all;
    String interval = properties.getProperty(Measurements.MEASUREMENT_INTERVAL, "op");
    if (!interval.equals("intended")) {
      openOne(all, "getOpMeasurement");
    }
    if (!interval.equals("op")) {
      openOne(all, "getOpIntendedMeasurement");
    }
  }

  private static void openOne(Measurements all, String getter) throws DBException {
    try {
      Method method = Measurements.class.getDeclaredMethod(getter, String.class);
      method.setAccessible(true);
      method.invoke(all, OPERATION);
    } catch (ReflectiveOperationException other) {
      throw new DBException("this is not the YCSB that the binding was written for", other);
    }
  }
}
