package org.densitystudy.table;

import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.Reader;
import java.net.URI;
import java.net.URL;
import java.net.URLConnection;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import javax.net.ssl.HttpsURLConnection;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.ServerMetrics;
import org.apache.hbase.thirdparty.com.google.gson.JsonArray;
import org.apache.hbase.thirdparty.com.google.gson.JsonObject;
import org.apache.hbase.thirdparty.com.google.gson.JsonParser;

/**
 * Work that a RegionServer does on its own: compactions that wait, and those and the splits that it has done
 * since it started. Only /jmx of its web server shows them; no RPC does. Hadoop caches /jmx for 10 s by default,
 * so the queue can flag a busy server, but cannot show when one becomes idle.
 */
record BackgroundWork(int compactionsQueued, long compactions, long splits) {
  private static final String QUERY = "/jmx?qry=Hadoop:service=HBase,name=RegionServer,sub=Server";

  /** In an emulated guest, the first page of a web server takes many seconds. */
  private static final int TIMEOUT_MS = 60_000;

  /** Opening or closing a region restarts the server's metrics; until then the bean is missing. */
  private static final int ATTEMPTS = 75;

  private static final long PAUSE_MS = 200;

  /**
   * Null if the RegionServer has no web server (hbase.regionserver.info.port is -1). Where the server asks
   * for Kerberos, Java answers by the ticket of KRB5CCNAME.
   */
  static BackgroundWork of(ServerMetrics server, Configuration configuration) throws Exception {
    int port = server.getInfoServerPort();
    if (port <= 0) {
      return null;
    }
    String host = server.getServerName().getHostname();
    String scheme = configuration.getBoolean("hbase.ssl.enabled", false) ? "https" : "http";
    return patiently(URI.create(scheme + "://" + host + ":" + port + QUERY).toURL());
  }

  private static BackgroundWork patiently(URL page) throws Exception {
    for (int attempt = 1; ; attempt++) {
      try (Reader text = new InputStreamReader(open(page), StandardCharsets.UTF_8)) {
        return read(text, page);
      } catch (MissingException restarting) {
        if (attempt == ATTEMPTS) {
          throw restarting;
        }
      }
      Thread.sleep(PAUSE_MS);
    }
  }

  private static InputStream open(URL page) throws IOException, GeneralSecurityException {
    URLConnection connection = page.openConnection();
    if (connection instanceof HttpsURLConnection secure) {
      Trust.apply(secure);
    }
    connection.setConnectTimeout(TIMEOUT_MS);
    connection.setReadTimeout(TIMEOUT_MS);
    return connection.getInputStream();
  }

  /** The page has no such bean. */
  static final class MissingException extends IOException {
    private static final long serialVersionUID = 1L;

    MissingException(Object source) {
      super("no counters of compactions and splits in " + source);
    }
  }

  static BackgroundWork read(Reader text, Object source) throws IOException {
    JsonArray beans = JsonParser.parseReader(text).getAsJsonObject().getAsJsonArray("beans");
    JsonObject bean = beans.isEmpty() ? new JsonObject() : beans.get(0).getAsJsonObject();
    if (!bean.has("compactionQueueLength")
        || !bean.has("CompactionTime_num_ops")
        || !bean.has("splitSuccessCount")) {
      throw new MissingException(source);
    }
    return new BackgroundWork(
        bean.get("compactionQueueLength").getAsInt(),
        bean.get("CompactionTime_num_ops").getAsLong(),
        bean.get("splitSuccessCount").getAsLong());
  }
}
