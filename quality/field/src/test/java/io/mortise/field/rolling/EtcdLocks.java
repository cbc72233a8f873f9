package io.mortise.field.rolling;

import io.mortise.field.ServerKeys;
import io.mortise.testkit.BoundedWait;
import io.mortise.testserver.EtcdServer;
import io.mortise.testserver.EtcdServer.EtcdCluster;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/** Three etcd servers. */
final class EtcdLocks implements LockServers {
  private static final Pattern MEMBER = Pattern.compile("\"member_id\":\"(\\d+)\"");
  private static final Duration RECOVERY = Duration.ofMinutes(1);

  private final EtcdCluster cluster;

  EtcdLocks(Path program) {
    cluster =
        EtcdCluster.start(
            program, "--auto-compaction-retention=1m", "--snapshot-count=10000", "--max-wals=2");
  }

  @Override
  public String url() {
    return cluster.url(0).replace("127.0.0.1", "localhost");
  }

  @Override
  public List<Integer> ports() {
    return IntStream.range(0, cluster.size()).mapToObj(i -> cluster.member(i).port()).toList();
  }

  @Override
  public Set<DeploymentFault> can() {
    return Set.of(DeploymentFault.FAILOVER, DeploymentFault.FULL_DISK);
  }

  @Override
  public void failOver() {
    EtcdServer leader = cluster.member(cluster.leaderOfAll());
    leader.kill();
    BoundedWait.pass(Duration.ofSeconds(5));
    leader.restart();
    cluster.leaderOfAll();
  }

  /** Raises the alarm of a member without space: all writes fail until it is disarmed. */
  @Override
  public void fillDisk(Duration time) {
    EtcdServer member = cluster.member(0);
    Matcher id = MEMBER.matcher(member.post("/v3/maintenance/status", "{}"));
    if (!id.find()) {
      throw new IllegalStateException("The member tells no id.");
    }
    String alarm = "{\"action\":\"%s\",\"memberID\":\"" + id.group(1) + "\",\"alarm\":\"NOSPACE\"}";
    member.post("/v3/maintenance/alarm", alarm.formatted("ACTIVATE"));
    BoundedWait.pass(time);
    member.post("/v3/maintenance/alarm", alarm.formatted("DEACTIVATE"));
    BoundedWait.until(
        RECOVERY,
        "the alarm was off",
        () -> !member.post("/v3/maintenance/alarm", "{\"action\":\"GET\"}").contains("NOSPACE"));
  }

  @Override
  public long records() {
    return ServerKeys.documents(cluster.member(0));
  }

  /** Etcd does not list its connections; they appear in the descriptors of instances. */
  @Override
  public long connections() {
    return 0;
  }

  @Override
  public boolean keepsAtLeast() {
    return false;
  }

  @Override
  public Duration expiry(Duration ttl) {
    return ttl.multipliedBy(2);
  }

  @Override
  public void close() {
    cluster.close();
  }
}
