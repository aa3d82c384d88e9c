package org.densitystudy.ycsb;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Properties;
import site.ycsb.Client;
import site.ycsb.measurements.Measurements;
import site.ycsb.workloads.CoreWorkload;

/**
 * Draws record numbers as a client does: the workload's own class, initialised with the client's own arguments.
 *
 * <p>Each line of the standard input is FILE, the number of draws, "trial" or "warm-up", and the arguments of the
 * client, all separated by tabs. FILE gets the draws, as 64-bit integers, highest byte first.
 */
public final class KeyDraws {
  private KeyDraws() {}

  public static void main(String[] none) throws Exception {
    BufferedReader lines =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      String[] words = line.split("\t");
      String[] arguments = Arrays.copyOfRange(words, 3, words.length);
      Properties properties = WarmClient.parsed(arguments);
      if (words[2].equals("warm-up")) {
        properties = WarmClient.unmeasured(properties);
      }
      Measurements.setProperties(properties);
      draw(workload(properties), Integer.parseInt(words[1]), Path.of(words[0]));
    }
  }

  private static CoreWorkload workload(Properties properties) throws Exception {
    String scheduled = properties.getProperty(ScheduledWorkload.WORKLOAD);
    String name = scheduled != null ? scheduled : properties.getProperty(Client.WORKLOAD_PROPERTY);
    CoreWorkload workload = WrappingWorkload.instance(name, CoreWorkload.class);
    workload.init(properties);
    return workload;
  }

  private static void draw(CoreWorkload workload, int draws, Path path) throws Exception {
    Method next = CoreWorkload.class.getDeclaredMethod("nextKeynum");
    next.setAccessible(true);
    ByteBuffer drawn = ByteBuffer.allocate(Long.BYTES * draws);
    for (int draw = 0; draw < draws; draw++) {
      drawn.putLong((long) next.invoke(workload));
    }
    Files.write(path, drawn.array());
  }
}
