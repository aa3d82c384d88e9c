package org.densitystudy.table;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.hbase.TableName;

/** The arguments of one command: values in order, and {@code --option value} pairs. Each is read once. */
final class Arguments {
  private final String verb;
  private final Deque<String> values = new ArrayDeque<>();
  private final Map<String, String> options = new LinkedHashMap<>();

  Arguments(List<String> words) {
    verb = words.get(0);
    for (int i = 1; i < words.size(); i++) {
      String word = words.get(i);
      if (!word.startsWith("--")) {
        values.add(word);
      } else if (i + 1 == words.size()) {
        throw wrong("%s needs a value", word);
      } else if (options.put(word.substring(2), words.get(++i)) != null) {
        throw wrong("%s is given twice", word);
      }
    }
  }

  String verb() {
    return verb;
  }

  String value(String what) {
    if (values.isEmpty()) {
      throw wrong("%s is missing", what);
    }
    return values.remove();
  }

  String option(String name) {
    String value = options.remove(name);
    if (value == null) {
      throw wrong("--%s is missing", name);
    }
    return value;
  }

  TableName table() {
    return TableName.valueOf(option("table"));
  }

  /** A whole number, at least {@code least}. */
  int number(String name, int least) {
    String text = option(name);
    try {
      int number = Integer.parseInt(text);
      if (number >= least) {
        return number;
      }
    } catch (NumberFormatException wrong) {
      throw wrong(wrong, "--%s %s is not a whole number", name, text);
    }
    throw wrong("--%s %s is below %d", name, text, least);
  }

  int number(String name, int least, int preset) {
    return options.containsKey(name) ? number(name, least) : preset;
  }

  boolean has(String name) {
    return options.containsKey(name);
  }

  /** Rejects arguments that the command did not read. */
  void finish() {
    if (!values.isEmpty()) {
      throw wrong("does not take %s", values.peek());
    }
    if (!options.isEmpty()) {
      throw wrong("does not know --%s", options.keySet().iterator().next());
    }
  }

  IllegalArgumentException wrong(String format, Object... parts) {
    return wrong(null, format, parts);
  }

  IllegalArgumentException wrong(Throwable cause, String format, Object... parts) {
    return new IllegalArgumentException(verb + ": " + String.format(format, parts), cause);
  }
}
