package io.mortise.field.rolling;

/** A fault of the deployment. */
enum DeploymentFault {
  /** Every instance is replaced by one of a later version. */
  UPGRADE("upgrade", Scope.INSTANCE),
  /** Instances are asked to end and restarted, one after the other. */
  ROLLING_RESTART("rolling restart", Scope.INSTANCE),
  /** An instance is killed. */
  KILL("kill -9", Scope.INSTANCE),
  /** All processes of a host are paused for longer than the TTL. */
  FREEZE("frozen host", Scope.HOST),
  /** A host is partitioned for longer than the TTL. */
  PARTITION("partition", Scope.HOST),
  /** A host's network has a latency of 200 ms each way, and loses 2 % of the packets. */
  SLOW("200 ms, 2 % loss", Scope.HOST),
  /** A host's NAT forgets all connections. */
  FORGET("NAT forgets", Scope.HOST),
  /** The servers' name resolves to another address on a host. */
  MOVE("DNS moves", Scope.HOST),
  /** The leading server is killed. */
  FAILOVER("failover", Scope.SERVERS),
  /** The servers have another certificate, of another authority. */
  CERTIFICATE("new certificate", Scope.SERVERS),
  /** The servers cannot write. */
  FULL_DISK("full disk", Scope.SERVERS),
  /** Not injected: the machine was overloaded. */
  STALL("machine stood still", Scope.MACHINE);

  /** The victims of a fault. */
  enum Scope {
    INSTANCE,
    HOST,
    SERVERS,
    MACHINE
  }

  private final String text;
  private final Scope scope;

  DeploymentFault(String text, Scope scope) {
    this.text = text;
    this.scope = scope;
  }

  /** Its name in reports. */
  String text() {
    return text;
  }

  Scope scope() {
    return scope;
  }

  boolean isOfServers() {
    return scope == Scope.SERVERS;
  }

  /** Whether its victims are asked to end, so that no other instance may wait for them. */
  boolean isAnnounced() {
    return this == UPGRADE || this == ROLLING_RESTART;
  }

  /** Whether it may end work in progress at once, releasing the lock without a record. */
  boolean mayEndWork() {
    return isAnnounced() || this == MOVE || this == STALL;
  }

  /** Whether it is injected at random. */
  boolean isInjected() {
    return this != UPGRADE && this != STALL;
  }
}
