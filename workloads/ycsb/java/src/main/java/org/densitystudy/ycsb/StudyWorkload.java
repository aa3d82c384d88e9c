package org.densitystudy.ycsb;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Properties;
import site.ycsb.Client;
import site.ycsb.WorkloadException;
import site.ycsb.generator.ScrambledZipfianGenerator;
import site.ycsb.workloads.CoreWorkload;

/**
 * CoreWorkload whose keys do not depend on the number of threads, on the duration, or on other clients.
 *
 * <p><b>Requests.</b> For a zipfian distribution, CoreWorkload scrambles ranks over the loaded rows and all
 * rows that the run might insert ({@code operationcount * insertproportion * 2}), and discards keys that do
 * not exist. Which ranks remain, and so how hot the hottest row is, depends on {@code operationcount}: at 96
 * threads one row got 30 % of the reads, at 3 threads 4 %. And a warm-up without inserts reads other rows
 * than the trial. Here ranks are scrambled over the loaded rows alone, in every run.
 *
 * <p><b>Inserts.</b> Every client of CoreWorkload inserts record numbers from recordcount on, and so
 * overwrites the rows of the others. Here client i of n (-p client.number=i, from 0; -p client.count=n; one
 * client without both) inserts recordcount + i, recordcount + i + n, recordcount + i + 2n, ... With
 * {@code requestdistribution=latest} it reads its own inserts, never those of another client, which may
 * not have been written yet.
 *
 * <p>{@code -p inserts.log=PATH}: the file that gets the acknowledged inserts; see {@link InsertLog}.
 */
public final class StudyWorkload extends CoreWorkload {
  static final String INSERTS_LOG = "inserts.log";

  private long loaded;
  private long clients;
  private long client;
  private String path;
  private InsertLog log;

  @Override
  public void init(Properties properties) throws WorkloadException {
    loaded = number(properties, Client.RECORD_COUNT_PROPERTY, "");
    clients = number(properties, "client.count", "1");
    client = number(properties, "client.number", "0");
    if (client >= clients) {
      throw new WorkloadException("client.number=" + client + " is not below " + clients);
    }
    path = properties.getProperty(INSERTS_LOG);
    log = path == null ? null : InsertLog.begin();
    super.init(properties);
    if (keychooser instanceof ScrambledZipfianGenerator) {
      keychooser = new ScrambledZipfianGenerator(0, loaded - 1);
    }
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

  private static long number(Properties properties, String name, String otherwise)
      throws WorkloadException {
    try {
      return Long.parseUnsignedLong(properties.getProperty(name, otherwise));
    } catch (NumberFormatException wrong) {
      throw new WorkloadException(name + " is not a whole number", wrong);
    }
  }
}
