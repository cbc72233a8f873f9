package io.mortise.field.rolling;

import io.mortise.testkit.server.FaultInjectionProxy;
import io.mortise.testkit.server.FaultInjectionProxy.NetworkCondition;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A host of the deployment. As root on Linux it is a network namespace, else a loopback address.
 * Its hosts file maps {@code localhost} to a gateway with a relay for each server's port. For one
 * thread, except for {@link #start}.
 */
final class SimulatedHost implements AutoCloseable {
  private final String name;
  private final String subnet;
  private final boolean isolated;
  private final Path hostsFile;
  private final List<Integer> ports;
  private final List<HostProcess> processes = new ArrayList<>();
  private final List<HostProcess> frozen = new ArrayList<>();
  private List<FaultInjectionProxy> relays = List.of();
  private int gateway = 1;
  private volatile boolean isFrozen;
  private @Nullable Process lifeline;

  /**
   * Makes one.
   *
   * @param network of all hosts of a deployment: 0 to 255
   * @param ports of the servers, on the loopback
   */
  SimulatedHost(int number, int network, Path folder, List<Integer> ports) throws IOException {
    this.name = "host" + number;
    this.isolated = mayIsolate();
    this.subnet = (isolated ? "10." : "127.") + network + "." + number + ".";
    this.ports = ports;
    this.hostsFile = folder.resolve(name + ".hosts");
    if (isolated) {
      isolate();
    }
    openGateway();
  }

  private static boolean mayIsolate() {
    return run("ip", "netns", "list") == 0 && run("ip", "link", "show", "lo") == 0 && isRoot();
  }

  static boolean isRoot() {
    return "root".equals(System.getProperty("user.name"));
  }

  private String namespace() {
    return "mortise-" + subnet.replace('.', '-') + "n";
  }

  /** At most 15 characters. */
  private String link() {
    return "mo" + subnet.replace('.', '-') + "r";
  }

  private void isolate() {
    String inner = "mo" + subnet.replace('.', '-') + "h";
    must("ip", "netns", "add", namespace());
    lifeline =
        Lifeline.attach("ip netns pids " + namespace() + " | xargs -r kill -9; " + removal());
    must("ip", "link", "add", link(), "type", "veth", "peer", "name", inner);
    must("ip", "link", "set", inner, "netns", namespace());
    must("ip", "address", "add", subnet + "1/24", "dev", link());
    must("ip", "address", "add", subnet + "3/24", "dev", link());
    must("ip", "link", "set", link(), "up");
    must("ip", "-n", namespace(), "address", "add", address() + "/24", "dev", inner);
    must("ip", "-n", namespace(), "link", "set", inner, "up");
    must("ip", "-n", namespace(), "link", "set", "lo", "up");
  }

  private String removal() {
    return "ip netns del " + namespace();
  }

  /**
   * Opens relays at the gateway's address, points the hosts file there, and closes former relays.
   */
  private void openGateway() throws IOException {
    List<FaultInjectionProxy> former = relays;
    relays =
        ports.stream()
            .map(port -> FaultInjectionProxy.at(subnet + gateway, port))
            .collect(Collectors.toList());
    Path next = Files.writeString(hostsFile.resolveSibling(name + ".next"), hosts());
    Files.move(
        next, hostsFile, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    former.forEach(FaultInjectionProxy::close);
  }

  /** Includes the host's own name, which frameworks look up. */
  private String hosts() throws IOException {
    String own = Files.readString(Path.of("/proc/sys/kernel/hostname")).strip();
    return subnet + gateway + " localhost\n" + address() + " " + own + "\n";
  }

  String name() {
    return name;
  }

  /** The address where its processes listen. */
  String address() {
    return subnet + "2";
  }

  boolean isIsolated() {
    return isolated;
  }

  /** Options of a JVM that runs here. */
  List<String> jvmOptions() {
    return List.of("-Djdk.net.hosts.file=" + hostsFile, "-Dsun.net.inetaddr.ttl=3");
  }

  /** Starts a process here; it ends with this JVM at the latest. */
  HostProcess start(List<String> command, Path log) throws IOException {
    List<String> whole = new ArrayList<>();
    if (isolated) {
      whole.addAll(List.of("ip", "netns", "exec", namespace()));
    }
    whole.addAll(command);
    HostProcess started = new HostProcess(whole, log);
    synchronized (processes) {
      processes.removeIf(process -> !process.isAlive());
      processes.add(started);
    }
    return started;
  }

  /** Stops all processes, with those that they have started. */
  void freeze() {
    isFrozen = true;
    synchronized (processes) {
      frozen.addAll(processes);
    }
    frozen.forEach(HostProcess::pause);
  }

  void thaw() {
    frozen.forEach(HostProcess::resume);
    frozen.clear();
    isFrozen = false;
  }

  boolean isFrozen() {
    return isFrozen;
  }

  /** Partitions the host: packets are dropped silently. */
  void partition() {
    if (isolated) {
      must("ip", "link", "set", link(), "down");
    } else {
      relays.forEach(relay -> relay.condition(NetworkCondition.FROZEN));
    }
  }

  void reconnect() {
    if (isolated) {
      must("ip", "link", "set", link(), "up");
    } else {
      relays.forEach(relay -> relay.condition(NetworkCondition.FAIR));
    }
  }

  /** Delays all traffic, and some of it as long as retransmitted packets. */
  void slowDown() {
    relays.forEach(relay -> relay.condition(NetworkCondition.LOSSY));
  }

  void speedUp() {
    relays.forEach(relay -> relay.condition(NetworkCondition.FAIR));
  }

  /** Makes the NAT forget all connections, unnoticed by either side. */
  void forgetConnections() {
    relays.forEach(FaultInjectionProxy::forget);
  }

  /** Gives the servers' name another address; nothing listens at the former one. */
  void moveNames() throws IOException {
    gateway = gateway == 1 ? 3 : 1;
    openGateway();
  }

  static void must(String... command) {
    int status = run(command);
    if (status != 0) {
      throw new IllegalStateException(String.join(" ", command) + " failed with " + status + ".");
    }
  }

  /** Waits for a command's end, and returns its status; 127 if there is no such program. */
  static int run(String... command) {
    try {
      return new ProcessBuilder(command)
          .redirectErrorStream(true)
          .redirectOutput(ProcessBuilder.Redirect.DISCARD)
          .start()
          .waitFor();
    } catch (IOException e) {
      return 127;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void close() {
    synchronized (processes) {
      processes.forEach(HostProcess::close);
    }
    relays.forEach(FaultInjectionProxy::close);
    if (isolated) {
      run(removal().split(" "));
    }
    if (lifeline != null) {
      lifeline.destroyForcibly();
    }
  }
}
