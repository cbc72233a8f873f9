package io.mortise.field.rolling;

import io.mortise.testkit.BoundedWait;
import io.mortise.testserver.RedisSentinels;
import io.mortise.testserver.RedisServer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** A Redis master with two replicas and three Sentinels, which address each other by name. */
final class RedisLocks implements LockServers {
  private static final Duration SILENCE = Duration.ofSeconds(2);
  private static final Duration RECOVERY = Duration.ofMinutes(1);

  private final RedisSentinels sentinels;

  RedisLocks(Path program) {
    sentinels = RedisSentinels.startNamed(program, SILENCE);
  }

  @Override
  public String url() {
    return sentinels.url().replace("127.0.0.1", "localhost");
  }

  @Override
  public List<Integer> ports() {
    List<Integer> ports = new ArrayList<>(sentinels.entries());
    sentinels.servers().forEach(server -> ports.add(server.port()));
    return ports;
  }

  @Override
  public Set<DeploymentFault> can() {
    return Set.of(DeploymentFault.FAILOVER, DeploymentFault.FULL_DISK);
  }

  @Override
  public void failOver() {
    RedisServer master = sentinels.master();
    master.kill();
    sentinels.awaitMasterOtherThan(master);
    master.restart();
    BoundedWait.until(
        RECOVERY,
        "the former master was a replica",
        () -> sentinels.isAgreed() && sentinels.isWhole());
  }

  /** Sets the memory limit to one byte, so that Redis refuses writes. */
  @Override
  public void fillDisk(Duration time) {
    RedisServer master = sentinels.master();
    master.ask("CONFIG", "SET", "maxmemory-policy", "noeviction");
    master.ask("CONFIG", "SET", "maxmemory", "1");
    BoundedWait.pass(time);
    master.ask("CONFIG", "SET", "maxmemory", "0");
  }

  @Override
  public long records() {
    return Long.parseLong(sentinels.master().ask("DBSIZE").get(0));
  }

  /** Includes connections for notifications, but not those of Sentinels, which are named. */
  @Override
  public long connections() {
    return sentinels.servers().stream()
        .flatMap(server -> server.ask("CLIENT", "LIST").get(0).lines())
        .filter(line -> !line.contains("name=sentinel") && !line.contains("cmd=client"))
        .filter(line -> !line.contains("flags=S") && !line.contains("flags=M"))
        .count();
  }

  @Override
  public boolean forgetsOnFailover() {
    return true;
  }

  @Override
  public void close() {
    sentinels.close();
  }
}
