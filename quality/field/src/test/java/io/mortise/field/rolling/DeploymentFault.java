package io.mortise.field.rolling;

/** Something that is done to the deployment. */
enum DeploymentFault {
  /** Every instance is replaced by one of a later version. */
  UPGRADE("upgrade", Scope.INSTANCE),
  /** Every instance ends when it is asked to, and starts again, one after the other. */
  ROLLING_RESTART("rolling restart", Scope.INSTANCE),
  /** An instance is killed. */
  KILL("kill -9", Scope.INSTANCE),
  /** All processes of a host stand still for longer than the TTL. */
  FREEZE("frozen host", Scope.HOST),
  /** A host is cut off for longer than the TTL. */
  PARTITION("partition", Scope.HOST),
  /** A host's network is 200 ms long each way, and loses a fiftieth of the packets. */
  SLOW("200 ms, 2 % loss", Scope.HOST),
  /** A host's way out forgets all connections. */
  FORGET("NAT forgets", Scope.HOST),
  /** The servers' name has another address on a host. */
  MOVE("DNS moves", Scope.HOST),
  /** The server that leads is killed. */
  FAILOVER("failover", Scope.SERVERS),
  /** The servers have another certificate, of another authority. */
  CERTIFICATE("new certificate", Scope.SERVERS),
  /** The servers may not write. */
  FULL_DISK("full disk", Scope.SERVERS),
  /** Nobody does it: the machine has too much to do. */
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

  /** For people. */
  String text() {
    return text;
  }

  Scope scope() {
    return scope;
  }

  /** Whether its victims are asked to end, and so must let nobody wait for them. */
  boolean isAnnounced() {
    return this == UPGRADE || this == ROLLING_RESTART;
  }

  /** Whether work that it meets may end at once and give its lock back, without a record. */
  boolean mayEndWork() {
    return isAnnounced() || this == MOVE || this == STALL;
  }

  /** Whether a random order may have it. */
  boolean isInjected() {
    return this != UPGRADE && this != STALL;
  }
}
