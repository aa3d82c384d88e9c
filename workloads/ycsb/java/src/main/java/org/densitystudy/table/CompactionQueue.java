package org.densitystudy.table;

import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Reader;
import java.net.URI;
import java.net.URLConnection;
import java.nio.charset.StandardCharsets;
import org.apache.hadoop.hbase.ServerMetrics;
import org.apache.hbase.thirdparty.com.google.gson.JsonArray;
import org.apache.hbase.thirdparty.com.google.gson.JsonParser;

/**
 * How many compactions wait on a RegionServer. Only its web server's /jmx tells; no RPC does.
 * Hadoop caches what /jmx shows for 10 s: good to flag a busy server, not to wait for an idle one.
 */
final class CompactionQueue {
  private static final String QUERY = "/jmx?qry=Hadoop:service=HBase,name=RegionServer,sub=Server";
  private static final int TIMEOUT_MS = 5_000;

  private CompactionQueue() {}

  /** Null where the server runs no web server (hbase.regionserver.info.port is -1). */
  static Integer length(ServerMetrics server) throws IOException {
    int port = server.getInfoServerPort();
    if (port <= 0) {
      return null;
    }
    String host = server.getServerName().getHostname();
    URLConnection page = URI.create("http://" + host + ":" + port + QUERY).toURL().openConnection();
    page.setConnectTimeout(TIMEOUT_MS);
    page.setReadTimeout(TIMEOUT_MS);
    try (Reader text = new InputStreamReader(page.getInputStream(), StandardCharsets.UTF_8)) {
      return length(text, page);
    }
  }

  static int length(Reader text, Object source) throws IOException {
    JsonArray beans = JsonParser.parseReader(text).getAsJsonObject().getAsJsonArray("beans");
    if (beans.isEmpty() || !beans.get(0).getAsJsonObject().has("compactionQueueLength")) {
      throw new IOException("no compactionQueueLength in " + source);
    }
    return beans.get(0).getAsJsonObject().get("compactionQueueLength").getAsInt();
  }
}
