package org.densitystudy.table;

import java.io.IOException;
import org.apache.hadoop.hbase.client.Admin;

/** balancer on|off: switch everything that moves, splits, merges or normalizes regions by itself. */
record Balancer(boolean on) implements Task {
  record Switches(boolean balancer, boolean normalizer, boolean splits, boolean merges) {}

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
