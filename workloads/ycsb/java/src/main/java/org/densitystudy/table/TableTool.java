package org.densitystudy.table;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import org.apache.hbase.thirdparty.com.google.gson.FieldNamingPolicy;
import org.apache.hbase.thirdparty.com.google.gson.Gson;
import org.apache.hbase.thirdparty.com.google.gson.GsonBuilder;

/**
 * Operations on HBase's tables for trials. One command line may hold several commands, separated by
 * {@code +}, because starting a JVM takes long. All are parsed before the first one runs.
 *
 * <p>Standard output: per command, a line with a JSON object {@code {"verb", "seconds", "result"}}, or
 * {@code {"verb", "seconds", "error"}} for the one that failed; those after it do not run. Standard
 * error: one line on failure. Exit code: 0 done, 1 failed, 2 invalid command line.
 *
 * <p>Only load-variants is measured. Any other JVM of this tool starts fastest with
 * -XX:TieredStopAtLevel=1 -XX:+UseSerialGC. What is measured, as the YCSB client is, must not have the first
 * of these. All need
 * --add-opens=java.base/java.nio=ALL-UNNAMED, or HBase copies bytes one by one.
 */
public final class TableTool {
  private static final Map<String, Function<Arguments, Task>> VERBS =
      new TreeMap<>(
          Map.ofEntries(
              Map.entry("balance", Balancer.Once::parse),
              Map.entry("balancer", Balancer::parse),
              Map.entry("confine", Confine::parse),
              Map.entry("count", CountRows::parse),
              Map.entry("create", CreateTable::parse),
              Map.entry("drop", TableLife::drop),
              Map.entry("dump-variants", DumpVariants::parse),
              Map.entry("flush-compact-settle", Settle::parse),
              Map.entry("forget", TableLife::forget),
              Map.entry("load-variants", LoadVariants::parse),
              Map.entry("namespace", Namespace::parse),
              Map.entry("read-back", ReadBack::parse),
              Map.entry("ready", Ready::parse),
              Map.entry("reload", Reload::parse),
              Map.entry("restore", TableLife.Restore::parse),
              Map.entry("servers", Servers::parse),
              Map.entry("snapshot", TableLife.Snapshot::parse),
              Map.entry("split", TableLife::split),
              Map.entry("splittable", TableLife::splittable),
              Map.entry("state", TableState::parse)));

  private static final Gson JSON =
      new GsonBuilder()
          .setFieldNamingPolicy(FieldNamingPolicy.LOWER_CASE_WITH_UNDERSCORES)
          .serializeNulls()
          .disableHtmlEscaping()
          .create();

  private final Session session;
  private final PrintStream out;
  private final PrintStream err;

  TableTool(Session session, PrintStream out, PrintStream err) {
    this.session = session;
    this.out = out;
    this.err = err;
  }

  private record Named(String verb, Task task) {}

  private record Success(String verb, double seconds, Object result) {}

  private record Failure(String verb, double seconds, String error) {}

  public static void main(String[] words) throws Exception {
    int code;
    try (Session session = Session.fromClasspath()) {
      code = new TableTool(session, System.out, System.err).run(words);
    }
    System.exit(code); // HBase's client leaves non-daemon threads behind
  }

  /** The exit code. */
  int run(String... words) {
    List<Named> tasks;
    try {
      tasks = parse(words);
    } catch (IllegalArgumentException wrong) {
      err.println("table-tool: " + wrong.getMessage());
      return 2;
    }
    return tasks.stream().allMatch(this::done) ? 0 : 1;
  }

  private boolean done(Named named) {
    long began = System.nanoTime();
    try {
      Object result = named.task().run(session);
      out.println(JSON.toJson(new Success(named.verb(), secondsSince(began), result)));
      return true;
    } catch (Exception failure) {
      String message = message(failure);
      out.println(JSON.toJson(new Failure(named.verb(), secondsSince(began), message)));
      err.println("table-tool: " + named.verb() + ": " + message);
      return false;
    }
  }

  private static List<Named> parse(String... words) {
    List<Named> tasks = new ArrayList<>();
    List<String> rest = Arrays.asList(words);
    while (rest.contains("+")) {
      tasks.add(task(rest.subList(0, rest.indexOf("+"))));
      rest = rest.subList(rest.indexOf("+") + 1, rest.size());
    }
    tasks.add(task(rest));
    return tasks;
  }

  private static Named task(List<String> words) {
    if (words.isEmpty() || !VERBS.containsKey(words.get(0))) {
      String given = words.isEmpty() ? "no command" : words.get(0) + " is not a command";
      throw new IllegalArgumentException(given + "; the commands are " + VERBS.keySet());
    }
    Arguments arguments = new Arguments(words);
    Task task = VERBS.get(words.get(0)).apply(arguments);
    arguments.finish();
    return new Named(words.get(0), task);
  }

  /** The first line, because HBase appends the server's stack trace to its messages. */
  private static String message(Exception failure) {
    String text = String.valueOf(failure.getMessage()).strip();
    return failure.getClass().getSimpleName() + ": " + text.lines().findFirst().orElse("");
  }

  private static double secondsSince(long began) {
    return (System.nanoTime() - began) / 1e9;
  }
}
