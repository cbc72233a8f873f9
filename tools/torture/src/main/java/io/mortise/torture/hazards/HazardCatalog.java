package io.mortise.torture.hazards;

import io.mortise.console.view.HazardStory;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** All stories, with their scenarios. */
public final class HazardCatalog {
  /** Stories whose second half can run on a user's store. */
  private static final Set<String> ANYWHERE = Set.of("gc-pause", "expired-release");

  private static final List<Hazard> ALL =
      HazardStory.all().stream().map(HazardCatalog::playable).toList();

  private HazardCatalog() {}

  private static Hazard playable(HazardStory story) {
    return new Hazard(story, ANYWHERE.contains(story.name()), scenario(story.name()));
  }

  private static Hazard.HazardScenario scenario(String name) {
    return switch (name) {
      case "gc-pause" -> new GcPause();
      case "expired-release" -> new ExpiredRelease();
      case "failover-forgets" -> new AsyncFailover();
      case "redlock-restart" -> new RedlockRestart();
      case "redlock-clock-jump" -> new RedlockClockJump();
      case "redlock-partition" -> new RedlockPartition();
      case "sharded-instance-dies" -> new ShardFailure();
      case "zk-session-gc" -> new ZooKeeperSessionPause();
      case "db-crash-holder" -> new DatabaseCrash();
      case "thundering-herd" -> new ThunderingHerd();
      case "late-command" -> new DelayedCommand();
      case "etcd-lease-revoked" -> EtcdLeaderPause::leaseIsRevoked;
      case "etcd-late-write" -> EtcdLeaderPause::writeIsLate;
      case "memcached-full" -> new MemcachedFull();
      default -> throw new IllegalStateException("Nothing plays story '" + name + "'.");
    };
  }

  /** All stories, in the best order for reading. */
  public static List<Hazard> all() {
    return ALL;
  }

  /** The story of that name. */
  public static Optional<Hazard> find(String name) {
    return ALL.stream().filter(hazard -> hazard.name().equals(name)).findFirst();
  }
}
