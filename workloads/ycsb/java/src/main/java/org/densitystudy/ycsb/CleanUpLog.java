package org.densitystudy.ycsb;

import java.lang.reflect.Method;
import java.util.Properties;
import site.ycsb.DBException;
import site.ycsb.measurements.Measurements;

/**
 * Opens the interval log of CLEANUP before there are several threads.
 *
 * <p>YCSB opens an operation's log when a thread first measures it, and two threads that do so at once
 * open it twice: the second empties the file under the first, whose next line then lies behind a hole of
 * zeros. At the start nothing but equal headers can be lost. All threads clean up in the same
 * millisecond, though, and what they log is written at once.
 */
final class CleanUpLog {
  private static final String OPERATION = "CLEANUP";
  private static Measurements opened;

  private CleanUpLog() {}

  /**
   * By any thread, before its first operation. Measures nothing; where no logs are asked for, as in
   * YCSB's interactive shell, it does nothing.
   */
  static synchronized void open(Properties properties) throws DBException {
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
