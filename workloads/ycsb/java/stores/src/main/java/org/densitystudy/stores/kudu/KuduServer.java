package org.densitystudy.stores.kudu;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;

/** One tablet server: what its pages show, and a flag that Kudu's own tool sets. */
record KuduServer(String address, String page, Path home) {
  private static final Duration ANSWER = Duration.ofSeconds(30);
  private static final HttpClient HTTP =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private static final ObjectMapper JSON = new ObjectMapper();

  /**
   * Of the {@code tablets} here: {@code runs} of flushes and compactions so far, how many are {@code running} now, and
   * the {@code bytes} on disk.
   */
  record Work(long tablets, long runs, long running, long bytes) {
    static final Work NONE = new Work(0, 0, 0, 0);

    Work plus(Work other) {
      return new Work(
          tablets + other.tablets,
          runs + other.runs,
          running + other.running,
          bytes + other.bytes);
    }
  }

  /** Of the tablets of a table. */
  Work work(String tableId) throws IOException, InterruptedException {
    return workIn(JSON.readTree(get("/metrics?types=tablet&compact=1")), tableId);
  }

  static Work workIn(JsonNode entities, String tableId) {
    Work sum = Work.NONE;
    for (JsonNode tablet : entities) {
      if (tablet.at("/attributes/table_id").asText().equals(tableId)) {
        sum = sum.plus(new Work(1, 0, 0, 0));
        for (JsonNode metric : tablet.get("metrics")) {
          sum = sum.plus(ofMetric(metric));
        }
      }
    }
    return sum;
  }

  private static Work ofMetric(JsonNode metric) {
    return switch (metric.get("name").asText()) {
      case "flush_mrs_duration", "flush_dms_duration", "compact_rs_duration",
          "delta_minor_compact_rs_duration", "delta_major_compact_rs_duration" ->
          new Work(0, metric.get("total_count").asLong(), 0, 0);
      case "flush_mrs_running", "flush_dms_running", "compact_rs_running",
          "delta_minor_compact_rs_running", "delta_major_compact_rs_running" ->
          new Work(0, 0, metric.get("value").asLong(), 0);
      case "on_disk_size" -> new Work(0, 0, 0, metric.get("value").asLong());
      default -> Work.NONE;
    };
  }

  /** A flag's value as the server shows it. */
  String flag(String name) throws IOException, InterruptedException {
    String start = "--" + name + "=";
    return get("/varz?raw")
        .lines()
        .filter(line -> line.startsWith(start))
        .map(line -> line.substring(start.length()).strip())
        .findFirst()
        .orElseThrow(() -> new IOException(address + " shows no flag " + name));
  }

  /** Kudu's clients cannot do this; its tool can. */
  void setFlag(String name, String value) throws IOException, InterruptedException {
    ProcessBuilder tool =
        new ProcessBuilder(
            home.resolve("bin/kudu").toString(), "tserver", "set_flag", address, name, value);
    tool.environment().put("LD_LIBRARY_PATH", home.resolve("lib").toString());
    tool.environment().put("SASL_PATH", home.resolve("lib/sasl2").toString());
    Process running = tool.redirectErrorStream(true).start();
    String said = new String(running.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    if (running.waitFor() != 0) {
      throw new IOException(address + " did not take the flag " + name + ": " + said.strip());
    }
  }

  private String get(String path) throws IOException, InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://" + page + path)).timeout(ANSWER).build();
    HttpResponse<String> answer = HTTP.send(request, HttpResponse.BodyHandlers.ofString());
    if (answer.statusCode() != 200) {
      throw new IOException(request.uri() + " answers " + answer.statusCode());
    }
    return answer.body();
  }
}
