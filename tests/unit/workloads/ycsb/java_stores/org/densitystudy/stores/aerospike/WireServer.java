package org.densitystudy.stores.aerospike;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * One node that speaks as much of Aerospike's protocol as the binding uses: info commands, and writes, reads, deletes and
 * queries of records. It is no Aerospike: it shows what the client sends, and answers as the protocol says.
 */
final class WireServer implements AutoCloseable {
  static final String NAMESPACE = "test";
  private static final int PARTITIONS = 4096;
  private static final int HEADER = 22;
  private static final int NOT_FOUND = 2;
  private static final int EXISTS = 5;

  /** A request: its flags, time to live in seconds, and the names of its bins. */
  record Asked(int read, int write, int info, int expiration, List<String> bins) {}

  /** Sets by name, records by digest, bins by name: what a bin holds begins with its type. */
  final Map<String, Map<String, Map<String, byte[]>>> sets = new ConcurrentSkipListMap<>();

  final List<Asked> asked = new CopyOnWriteArrayList<>();
  final List<String> truncated = new CopyOnWriteArrayList<>();

  /** Answers to info commands, beyond those that every client needs. */
  final Map<String, String> answers = new ConcurrentSkipListMap<>();

  /** The result of each record's request, if it is not 0; nothing is done then. */
  volatile int failing;

  /** Whether requests of records end with the connection, unanswered. */
  volatile boolean cutting;

  private final ServerSocket socket;

  WireServer() throws IOException {
    socket = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    answers.put("edition", "Aerospike Enterprise Edition");
    answers.put("build", "8.1.0.3");
    answers.put("statistics", "cluster_size=1;cluster_key=8AF422E0528124;uptime=7");
    show("ns_cluster_size=1;effective_replication_factor=1;stop_writes=false");
    start(this::accept);
  }

  /** What it says about its namespace, beside use and settings that tests leave alone. */
  void show(String more) {
    answers.put(
        "namespace/" + NAMESPACE,
        more + ";data_total_bytes=1000;data_used_bytes=100;storage-engine=device;strong-consistency=false"
            + ";storage-engine.commit-to-device=false;storage-engine.stop-writes-used-pct=70"
            + ";storage-engine.evict-used-pct=50;write-commit-level-override=off"
            + ";storage-engine.device[0].defrag_writes=3;storage-engine.device[1].defrag_writes=4");
  }

  String address() {
    return "127.0.0.1:" + socket.getLocalPort();
  }

  Map<String, Map<String, byte[]>> set(String name) {
    return sets.computeIfAbsent(name, none -> new ConcurrentSkipListMap<>());
  }

  private static void start(Runnable work) {
    Thread thread = new Thread(work);
    thread.setDaemon(true);
    thread.start();
  }

  private void accept() {
    try {
      while (true) {
        Socket client = socket.accept();
        start(() -> serve(client));
      }
    } catch (IOException closed) {
      return; // by close
    }
  }

  private void serve(Socket client) {
    try (client) {
      DataInputStream in = new DataInputStream(client.getInputStream());
      OutputStream out = client.getOutputStream();
      while (true) {
        long header = in.readLong();
        int type = (int) (header >> 48 & 0xff);
        byte[] body = in.readNBytes((int) (header & 0xffffffffffffL));
        byte[] answer = type == 1 ? info(body) : record(ByteBuffer.wrap(body));
        if (answer == null) {
          return;
        }
        ByteBuffer framed = ByteBuffer.allocate(8 + answer.length);
        framed.putLong(2L << 56 | (long) type << 48 | answer.length).put(answer);
        out.write(framed.array());
      }
    } catch (EOFException | SocketException gone) {
      return; // the client closed it
    } catch (IOException failure) {
      throw new IllegalStateException(failure);
    }
  }

  private byte[] info(byte[] body) {
    StringBuilder answer = new StringBuilder();
    for (String command : new String(body, StandardCharsets.UTF_8).split("\n")) {
      answer.append(command).append('\t').append(answerTo(command)).append('\n');
    }
    return answer.toString().getBytes(StandardCharsets.UTF_8);
  }

  private String answerTo(String command) {
    String prefix = "sets/" + NAMESPACE + "/";
    if (command.startsWith(prefix)) {
      Map<String, Map<String, byte[]>> set = sets.get(command.substring(prefix.length()));
      return set == null ? "" : "objects=" + set.size() + ":data_used_bytes=64:truncating=false;";
    }
    if (command.startsWith("truncate:")) {
      truncated.add(command);
      set(command.substring(command.indexOf("set=") + 4)).clear();
      return "ok";
    }
    byte[] all = new byte[PARTITIONS / 8];
    Arrays.fill(all, (byte) 0xff);
    return switch (command) {
      case "node" -> "BB9020011AC4202";
      case "features" -> "pscans;query-show;batch-any;pquery";
      case "partition-generation", "peers-generation" -> "1";
      case "peers-clear-std" -> "1,3000,[]";
      case "replicas" -> NAMESPACE + ":0,1," + Base64.getEncoder().encodeToString(all);
      default -> answers.getOrDefault(command, "ERROR:4:unknown " + command);
    };
  }

  private byte[] record(ByteBuffer body) throws IOException {
    body.get(); // length of the header
    int read = body.get() & 0xff;
    int write = body.get() & 0xff;
    int info = body.get() & 0xff;
    body.position(body.position() + 2 + 4);
    int expiration = body.getInt();
    body.getInt();
    int fields = body.getShort();
    int operations = body.getShort();
    String set = "";
    String digest = "";
    byte[] partitions = {};
    for (int i = 0; i < fields; i++) {
      byte[] field = new byte[body.getInt() - 1];
      int type = body.get();
      body.get(field);
      switch (type) {
        case 1 -> set = new String(field, StandardCharsets.UTF_8);
        case 4 -> digest = HexFormat.of().formatHex(field);
        case 11 -> partitions = field;
        default -> { }
      }
    }
    Map<String, byte[]> bins = new TreeMap<>();
    for (int i = 0; i < operations; i++) {
      int size = body.getInt();
      body.get(); // operation
      byte type = body.get();
      body.get();
      byte[] name = new byte[body.get()];
      body.get(name);
      byte[] value = new byte[1 + size - 4 - name.length];
      value[0] = type;
      body.get(value, 1, value.length - 1);
      bins.put(new String(name, StandardCharsets.UTF_8), value);
    }
    asked.add(new Asked(read, write, info, expiration, List.copyOf(bins.keySet())));
    if (cutting) {
      return null;
    }
    if (failing != 0) {
      return message(0, failing, 0, "", Map.of());
    }
    if (partitions.length > 0) {
      return query(set, partitions);
    }
    if ((write & 2) != 0) {
      return message(0, set(set).remove(digest) == null ? NOT_FOUND : 0, 0, "", Map.of());
    }
    if ((write & 1) != 0) {
      Map<String, byte[]> old = set(set).get(digest);
      if (old != null && (write & 32) != 0) {
        return message(0, EXISTS, 0, "", Map.of());
      }
      Map<String, byte[]> record = new TreeMap<>(old == null || (info & (16 | 32)) != 0 ? Map.of() : old);
      record.putAll(bins);
      set(set).put(digest, record);
      return message(0, 0, 0, "", Map.of());
    }
    Map<String, byte[]> found = set(set).get(digest);
    if (found == null) {
      return message(0, NOT_FOUND, 0, "", Map.of());
    }
    Map<String, byte[]> shown = new TreeMap<>(found);
    if (!bins.isEmpty()) {
      shown.keySet().retainAll(bins.keySet());
    }
    return message(0, 0, 0, "", shown);
  }

  /** All records of the set, then each partition's end, then the end. */
  private byte[] query(String set, byte[] partitions) throws IOException {
    ByteArrayOutputStream answer = new ByteArrayOutputStream();
    for (String digest : new ArrayList<>(set(set).keySet())) {
      answer.write(message(0, 0, 0, digest, Map.of()));
    }
    for (int at = 0; at < partitions.length; at += 2) {
      answer.write(message(4, 0, partitions[at] & 0xff | (partitions[at + 1] & 0xff) << 8, "", Map.of()));
    }
    answer.write(message(1, 0, 0, "", Map.of()));
    return answer.toByteArray();
  }

  private static byte[] message(
      int info, int result, int generation, String digest, Map<String, byte[]> bins) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    DataOutputStream out = new DataOutputStream(bytes);
    out.write(new byte[] {HEADER, 0, 0, (byte) info, 0, (byte) result});
    out.writeInt(generation);
    out.writeInt(0);
    out.writeInt(0);
    out.writeShort(digest.isEmpty() ? 0 : 2);
    out.writeShort(bins.size());
    if (!digest.isEmpty()) {
      field(out, 0, NAMESPACE.getBytes(StandardCharsets.UTF_8));
      field(out, 4, HexFormat.of().parseHex(digest));
    }
    for (Map.Entry<String, byte[]> bin : bins.entrySet()) {
      byte[] name = bin.getKey().getBytes(StandardCharsets.UTF_8);
      byte[] value = bin.getValue();
      out.writeInt(4 + name.length + value.length - 1);
      out.write(new byte[] {1, value[0], 0, (byte) name.length});
      out.write(name);
      out.write(value, 1, value.length - 1);
    }
    return bytes.toByteArray();
  }

  private static void field(DataOutputStream out, int type, byte[] bytes) throws IOException {
    out.writeInt(bytes.length + 1);
    out.write(type);
    out.write(bytes);
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
