package org.densitystudy.table;

import java.io.IOException;
import java.util.EnumSet;
import org.apache.hadoop.hbase.ClusterMetrics;
import org.apache.hadoop.hbase.client.Admin;

/**
 * balancer on|off: switch everything that moves, splits, merges or normalizes regions by itself. balance: let the
 * balancer move regions once, and return when none is in transition; it pauses between moves, for as long as
 * hbase.balancer.max.balancing says.
 */
record Balancer(boolean on) implements Task {
  record Switches(boolean balancer, boolean normalizer, boolean splits, boolean merges) {}

  record Once() implements Task {
    record Done(boolean ran) {}

    private static final long POLL_MS = 250;

    static Task parse(Arguments arguments) {
      return new Once();
    }

    @Override
    public Done run(Session session) throws IOException, InterruptedException {
      Admin admin = session.admin();
      admin.balancerSwitch(true, true);
      try {
        boolean ran = admin.balance();
        while (!isQuiet(admin)) {
          Thread.sleep(POLL_MS);
        }
        return new Done(ran);
      } finally {
        admin.balancerSwitch(false, true);
      }
    }

    private static boolean isQuiet(Admin admin) throws IOException {
      var wanted = EnumSet.of(ClusterMetrics.Option.REGIONS_IN_TRANSITION);
      return admin.getClusterMetrics(wanted).getRegionStatesInTransition().isEmpty();
    }
  }

  static Task parse(Arguments arguments) {
    String word = arguments.value("on or off");
    if (!word.equals("on") && !word.equals("off")) {
      throw arguments.wrong("takes on or off, not %s", word);
    }
    return new Balancer(word.equals("on"));
  }

  @Override
  public Switches run(Session session) throws IOException {
    Admin admin = session.admin();
    admin.balancerSwitch(on, true);
    admin.normalizerSwitch(on);
    admin.splitSwitch(on, true);
    admin.mergeSwitch(on, true);
    return new Switches(
        admin.isBalancerEnabled(),
        admin.isNormalizerEnabled(),
        admin.isSplitEnabled(),
        admin.isMergeEnabled());
  }
}
