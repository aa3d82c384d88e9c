package org.densitystudy.ycsb;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Properties;
import site.ycsb.Client;
import site.ycsb.WorkloadException;
import site.ycsb.workloads.CoreWorkload;

/**
 * CoreWorkload for one of several client processes on one table: their inserted rows never collide.
 *
 * <p>Every client of CoreWorkload inserts record numbers from recordcount on, and so overwrites the rows
 * of the others. Here client i of n (-p client.number=i, from 0; -p client.count=n) inserts
 * recordcount + i, recordcount + i + n, recordcount + i + 2n, ... Each client chooses among the loaded
 * rows and its own inserted rows, by the request distribution. It never reads a row that another client
 * may not have written yet.
 *
 * <p>{@code -p inserts.log=PATH}: the file that gets the acknowledged inserts; see {@link InsertLog}.
 */
public final class InterleavedWorkload extends CoreWorkload {
  static final String INSERTS_LOG = "inserts.log";

  private long loaded;
  private long clients;
  private long client;
  private String path;
  private InsertLog log;

  @Override
  public void init(Properties properties) throws WorkloadException {
    loaded = number(properties, Client.RECORD_COUNT_PROPERTY);
    clients = number(properties, "client.count");
    client = number(properties, "client.number");
    if (client >= clients) {
      throw new WorkloadException("client.number=" + client + " is not below " + clients);
    }
    path = properties.getProperty(INSERTS_LOG);
    log = path == null ? null : InsertLog.begin();
    super.init(properties);
  }

  @Override
  protected String buildKeyName(long number) {
    String key =
        super.buildKeyName(
            number < loaded ? number : loaded + (number - loaded) * clients + client);
    if (log != null) {
      log.names(number - loaded, key);
    }
    return key;
  }

  @Override
  public void cleanup() throws WorkloadException {
    super.cleanup();
    if (log == null) {
      return;
    }
    try {
      log.end(Path.of(path), loaded + client, clients);
    } catch (IOException failure) {
      throw new WorkloadException("the inserts could not be written to " + path, failure);
    }
  }

  private static long number(Properties properties, String name) throws WorkloadException {
    try {
      return Long.parseUnsignedLong(properties.getProperty(name, ""));
    } catch (NumberFormatException wrong) {
      throw new WorkloadException(name + " is not a whole number", wrong);
    }
  }
}
