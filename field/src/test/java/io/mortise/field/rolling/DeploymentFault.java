package io.mortise.field.rolling;

/** Something that is done to the deployment. */
enum DeploymentFault {
  /** Every instance ends when it is asked to, and starts again, one after the other. */
  ROLLING_RESTART("rolling restart"),
  /** An instance is killed. */
  KILL("kill -9"),
  /** All processes of a host stand still for longer than the TTL. */
  FREEZE("frozen host"),
  /** A host is cut off for longer than the TTL. */
  PARTITION("partition"),
  /** A host's network is 200 ms long each way, and loses a fiftieth of the packets. */
  SLOW("200 ms, 2 % loss"),
  /** A host's way out forgets all connections. */
  FORGET("NAT forgets"),
  /** The servers' name has another address on a host. */
  MOVE("DNS moves"),
  /** The server that leads is killed. */
  FAILOVER("failover"),
  /** The servers have another certificate, of another authority. */
  CERTIFICATE("new certificate"),
  /** The servers may not write. */
  FULL_DISK("full disk");

  private final String text;

  DeploymentFault(String text) {
    this.text = text;
  }

  /** For people. */
  String text() {
    return text;
  }
}
