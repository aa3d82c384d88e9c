package org.densitystudy.variants;

import java.math.BigInteger;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import java.util.SplittableRandom;
import java.util.Vector;
import java.util.concurrent.atomic.AtomicLong;
import site.ycsb.ByteIterator;
import site.ycsb.Client;
import site.ycsb.DB;
import site.ycsb.Status;
import site.ycsb.StringByteIterator;
import site.ycsb.Workload;
import site.ycsb.WorkloadException;
import site.ycsb.measurements.Measurements;

/**
 * YCSB workload for a cohort's variant store: the load, and queries on the loaded rows.
 *
 * <p>The load writes rows in an order that jumps over the whole genome, like many loaders in parallel. A
 * query is a region scan (the rows of all samples in a region are counted, and the first and the last
 * verified) or a sample read (one sample at one site, verified). A difference is reported as VERIFY,
 * {@code UNEXPECTED_STATE}; without one, nothing is reported under that name.
 *
 * <p>Properties: those of {@link VariantStore}; variants.regions and variants.region.sites (number of
 * regions, and their median length), scanproportion and readproportion (their sum is 1),
 * requestdistribution (zipfian or uniform), client.number. The seed determines the queries of each
 * thread of each client.
 */
public final class VariantWorkload extends Workload {
  private static final long QUERIES = 0x9E2155L;

  private VariantStore store;
  private VariantRows rows;
  private Regions regions;
  private String table;
  private double scans;
  private long client;
  private long stride;
  private AtomicLong next;

  @Override
  public void init(Properties properties) throws WorkloadException {
    store = VariantStore.of(properties);
    long records = VariantStore.number(properties, Client.RECORD_COUNT_PROPERTY, null);
    if (records != store.rows()) {
      throw new WorkloadException(
          "recordcount=" + records + ", but the samples have " + store.rows() + " rows");
    }
    Genome genome = store.genome();
    rows = new VariantRows(genome, store.seed());
    table = properties.getProperty("table", "usertable");
    client = VariantStore.number(properties, "client.number", 0L);
    scans = share(properties);
    regions =
        Regions.of(
            genome,
            Math.toIntExact(VariantStore.number(properties, "variants.regions", 1000L)),
            Math.toIntExact(VariantStore.number(properties, "variants.region.sites", 20L)),
            zipfian(properties),
            store.seed());
    stride = stride(store.rows());
    next = new AtomicLong(VariantStore.number(properties, INSERT_START_PROPERTY, 0L));
  }

  @Override
  public Object initThread(Properties properties, int thread, int threads) {
    return new SplittableRandom(Mix.of(store.seed(), QUERIES, client, thread));
  }

  @Override
  public boolean doInsert(DB db, Object thread) {
    long row = rowAt(next.getAndIncrement());
    int site = (int) (row / store.samples());
    int sample = (int) (row % store.samples());
    Map<String, ByteIterator> values = new HashMap<>();
    rows.values(site, sample).forEach((name, text) -> values.put(name, new StringByteIterator(text)));
    return db.insert(table, rows.key(site, sample), values).isOk();
  }

  @Override
  public boolean doTransaction(DB db, Object thread) {
    SplittableRandom random = (SplittableRandom) thread;
    int region = regions.draw(random);
    if (random.nextDouble() < scans) {
      scan(db, region);
    } else {
      int site = regions.firstSite(region) + random.nextInt(regions.sites(region));
      read(db, site, random.nextInt(store.samples()));
    }
    return true;
  }

  /** A bijection: the n-th row written is this one, counted by site and then by sample. */
  long rowAt(long number) {
    return number % store.rows() * stride % store.rows();
  }

  private void scan(DB db, int region) {
    int first = regions.firstSite(region);
    int sites = regions.sites(region);
    int expected = sites * store.samples();
    Vector<HashMap<String, ByteIterator>> found = new Vector<>(expected);
    if (!db.scan(table, rows.key(first, 0), expected, null, found).isOk()) {
      return; // counted by its own status
    }
    verified(
        found.size() == expected
            && same(found.firstElement(), first, 0)
            && same(found.lastElement(), first + sites - 1, store.samples() - 1));
  }

  private void read(DB db, int site, int sample) {
    Map<String, ByteIterator> found = new HashMap<>();
    if (db.read(table, rows.key(site, sample), null, found).isOk()) {
      verified(same(found, site, sample));
    }
  }

  private boolean same(Map<String, ByteIterator> found, int site, int sample) {
    Map<String, String> written = rows.values(site, sample);
    return found.size() == written.size()
        && written.entrySet().stream()
            .allMatch(one -> one.getValue().equals(String.valueOf(found.get(one.getKey()))));
  }

  private static void verified(boolean same) {
    if (!same) {
      Measurements.getMeasurements().reportStatus("VERIFY", Status.UNEXPECTED_STATE);
    }
  }

  private static boolean zipfian(Properties properties) throws WorkloadException {
    String name = properties.getProperty("requestdistribution", "zipfian");
    if (!name.equals("zipfian") && !name.equals("uniform")) {
      throw new WorkloadException("requestdistribution=" + name + " is not zipfian or uniform");
    }
    return name.equals("zipfian");
  }

  private static double share(Properties properties) throws WorkloadException {
    double scans = Double.parseDouble(properties.getProperty("scanproportion", "0"));
    double reads = Double.parseDouble(properties.getProperty("readproportion", "0"));
    double inserts = Double.parseDouble(properties.getProperty("insertproportion", "0"));
    if (inserts < 1 && Math.abs(scans + reads - 1) > 1e-9) {
      throw new WorkloadException("a run has scans and reads alone: their shares must add to 1");
    }
    return scans;
  }

  /** Near the golden section of all rows, so that followers are far apart; shares no factor with them. */
  static long stride(long rows) {
    long stride = Math.max(1, Math.round(rows * 0.6180339887498949));
    while (!BigInteger.valueOf(stride).gcd(BigInteger.valueOf(rows)).equals(BigInteger.ONE)) {
      stride++;
    }
    return stride;
  }
}
