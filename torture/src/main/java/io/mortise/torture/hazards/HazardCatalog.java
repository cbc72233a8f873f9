package io.mortise.torture.hazards;

import io.mortise.console.internal.view.HazardStory;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/** All stories, with what plays them. */
public final class HazardCatalog {
  private static final Map<String, Hazard.HazardScenario> SCENARIOS =
      Map.ofEntries(
          Map.entry("gc-pause", new GcPause()),
          Map.entry("expired-release", new ExpiredRelease()),
          Map.entry("failover-forgets", new AsyncFailover()),
          Map.entry("redlock-restart", new RedlockRestart()),
          Map.entry("redlock-clock-jump", new RedlockClockJump()),
          Map.entry("redlock-partition", new RedlockPartition()),
          Map.entry("sharded-instance-dies", new ShardFailure()),
          Map.entry("zk-session-gc", new ZooKeeperSessionPause()),
          Map.entry("db-crash-holder", new DatabaseCrash()),
          Map.entry("thundering-herd", new ThunderingHerd()),
          Map.entry("late-command", new DelayedCommand()),
          Map.entry("etcd-lease-revoked", EtcdLeaderPause::leaseIsRevoked),
          Map.entry("etcd-late-write", EtcdLeaderPause::writeIsLate));

  /** Those whose second half can run on a store of the user's. */
  private static final Set<String> ANYWHERE = Set.of("gc-pause", "expired-release");

  private static final List<Hazard> ALL =
      HazardStory.all().stream()
          .map(
              text ->
                  new Hazard(
                      text,
                      ANYWHERE.contains(text.name()),
                      Objects.requireNonNull(SCENARIOS.get(text.name()), text.name())))
          .toList();

  private HazardCatalog() {}

  /** Every story, in the order in which they are best read. */
  public static List<Hazard> all() {
    return ALL;
  }

  /** The story of that name. */
  public static Optional<Hazard> find(String name) {
    return ALL.stream().filter(hazard -> hazard.name().equals(name)).findFirst();
  }
}
