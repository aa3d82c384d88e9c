package org.densitystudy.table;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TableToolTest {
  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "dance",
        "state",
        "state --table t +",
        "state --table t + dance",
        "balancer perhaps",
        "balancer off now",
        "create --table t --family f",
        "create --table t --family f --regions 0",
        "create --table t --family f --regions 50001",
        "create --table t --family f --regions 2 --splits x",
        "create --table in:valid:name --family f --regions 2",
        "create --table t --family f --regions 2 --contig chr1",
        "create --table t --family f --regions 2 --compression gzip",
        "create --table t --family f --regions 2 --block-size 0",
        "create --table t --family f --regions 2 --contig chr1,1",
        "load-variants --table t --family f",
        "load-variants --table t --family f --vcf x --durability SOME",
        "dump-variants --table t --family f --output x",
        "ready --regionservers 1",
        "snapshot --table t",
        "restore r --table t --places 0",
        "restore r --table t --servers a:1 --places 1",
        "forget --table t",
        "confine --table t",
        "confine --table t --info here",
      })
  void aWrongCommandLineEndsWith2BeforeAnythingIsDone(String line) {
    String[] words = line.isEmpty() ? new String[0] : line.split(" ");
    assertEquals(2, run(words), line);
    assertEquals("", out.toString());
    assertEquals(1, err.toString().lines().count(), err.toString());
  }

  @Test
  void aClusterThatDoesNotAnswerEndsWith1OneLineAndJson() {
    int code = run("ready --regionservers 1 --deadline-s 1 + count --table t".split(" "));
    assertEquals(1, code);
    assertEquals(1, out.toString().lines().count(), "the chain ends at the first failure");
    assertTrue(out.toString().startsWith("{\"verb\":\"ready\",\"seconds\":"), out.toString());
    assertTrue(out.toString().contains("\"error\":\"TimeoutException: no HBase within 1 s"));
    assertEquals(1, err.toString().lines().count(), err.toString());
  }

  /** No service listens on port 1 of this machine. */
  private int run(String... words) {
    Configuration nowhere = HBaseConfiguration.create();
    nowhere.set("hbase.zookeeper.quorum", "127.0.0.1");
    nowhere.setInt("hbase.zookeeper.property.clientPort", 1);
    PrintStream answers = new PrintStream(out, true);
    return new TableTool(new Session(nowhere), answers, new PrintStream(err, true)).run(words);
  }
}
