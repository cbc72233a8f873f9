package io.mortise.testserver;

import io.mortise.testkit.server.ServerProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A ZooKeeper server in its own process, on a free port of the loopback: the one that the artifact
 * {@code org.apache.zookeeper:zookeeper} carries, which must be on the class path together with
 * {@code metrics-core} and {@code snappy-java}. Its folder and process are removed by {@link
 * #close()}, and when the JVM ends. For one thread.
 *
 * <p>Its ticks are 200 ms, so that sessions of 400 ms and longer can be tested; there is no upper
 * limit. Idle containers are removed after one second. All of that can be set otherwise.
 */
public final class ZooKeeperServer extends ServerProcess {
  private static final String MAIN = "org.apache.zookeeper.server.quorum.QuorumPeerMain";

  private final Path data;

  private ZooKeeperServer(
      int port, Path folder, List<String> command, ReadinessProbe readinessProbe, Path data) {
    super("zookeeper", port, folder, command, readinessProbe);
    this.data = data;
  }

  /**
   * The setup of a server.
   *
   * @param port for clients
   * @param id the number in an ensemble; 0 for a server that is alone
   * @param settings lines of {@code zoo.cfg}, before all others
   * @param options of its JVM
   */
  public record Setup(int port, int id, Map<String, String> settings, List<String> options) {
    /** Options for a fast start and little memory. */
    private static final List<String> BRIEF =
        List.of(
            "-Xmx256m",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-Dznode.container.checkIntervalMs=1000");

    /** Copies the collections. */
    public Setup {
      settings = Map.copyOf(settings);
      options = List.copyOf(options);
    }

    /** A standalone server on a free port. */
    public static Setup single() {
      return new Setup(ServerProcess.freePort(), 0, Map.of(), BRIEF);
    }

    /** A member of an ensemble, whose other members the settings {@code server.N} name. */
    public static Setup member(int id, int port, Map<String, String> settings) {
      return new Setup(port, id, settings, BRIEF);
    }

    /** The same with one more setting. */
    public Setup with(String setting, String value) {
      Map<String, String> more = new LinkedHashMap<>(settings);
      more.put(setting, value);
      return new Setup(port, id, more, options);
    }

    /** The same with one more system property. */
    public Setup withProperty(String property, String value) {
      List<String> more = new ArrayList<>(options);
      more.add("-D" + property + "=" + value);
      return new Setup(port, id, settings, more);
    }

    /**
     * The same with these options of its JVM instead of those that make a test's server start soon
     * and remove idle containers after a second.
     */
    public Setup withOptions(List<String> others) {
      return new Setup(port, id, settings, others);
    }
  }

  /** An unused port of the loopback. */
  public static int freePort() {
    return ServerProcess.freePort();
  }

  /** Starts a standalone server, and waits until it serves. */
  public static ZooKeeperServer start() {
    return start(Setup.single());
  }

  /**
   * Starts a server. Waits until it serves, or, if it is a member of an ensemble, until its process
   * answers: it serves once a majority runs.
   *
   * @throws IllegalStateException if it does not come up; the message has its output
   */
  public static ZooKeeperServer start(Setup setup) {
    return start(setup, List.of());
  }

  /**
   * The same, with a clock that the test sets.
   *
   * @param clock closed after the server
   */
  public static ZooKeeperServer start(Setup setup, FakeClock clock) {
    return start(setup, clock.prefix());
  }

  private static ZooKeeperServer start(Setup setup, List<String> prefix) {
    try {
      Path folder = Files.createTempDirectory("mortise-zookeeper");
      Path data = Files.createDirectory(folder.resolve("data"));
      if (setup.id() > 0) {
        Files.writeString(data.resolve("myid"), Integer.toString(setup.id()));
      }
      Path file = Files.write(folder.resolve("zoo.cfg"), lines(setup, data));
      List<String> command = new ArrayList<>(prefix);
      command.addAll(command(setup, file));
      boolean alone = setup.id() == 0;
      return new ZooKeeperServer(
          setup.port(),
          folder,
          command,
          () ->
              alone
                  ? ask(setup.port(), "srvr").contains("Mode:")
                  : ask(setup.port(), "ruok").equals("imok"),
          data);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static List<String> lines(Setup setup, Path data) {
    Map<String, String> all = new LinkedHashMap<>();
    all.put("tickTime", "200");
    all.put("initLimit", "50");
    all.put("syncLimit", "25");
    all.put("maxSessionTimeout", "3600000");
    all.put("maxClientCnxns", "0");
    all.put("admin.enableServer", "false");
    all.put("4lw.commands.whitelist", "*");
    all.putAll(setup.settings());
    all.put("dataDir", data.toString());
    all.put("clientPort", Integer.toString(setup.port()));
    all.put("clientPortAddress", "127.0.0.1");
    return all.entrySet().stream().map(line -> line.getKey() + "=" + line.getValue()).toList();
  }

  private static List<String> command(Setup setup, Path file) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(setup.options());
    command.add("-cp");
    command.add(
        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")));
    command.add(MAIN);
    command.add(file.toString());
    return command;
  }

  /** Sends a four-letter word and returns the answer. */
  private static String ask(int port, String word) throws IOException {
    try (Socket socket = ServerProcess.connect(port)) {
      socket.getOutputStream().write(word.getBytes(StandardCharsets.US_ASCII));
      return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  /**
   * Sends a four-letter word, like {@code srvr}, {@code stat} or {@code wchs}.
   *
   * @return the answer; empty if there is none
   */
  public String ask(String word) {
    try {
      return ask(port, word);
    } catch (IOException e) {
      return "";
    }
  }

  /** Kills it, removes its data, and restarts it. */
  public void restartEmpty() {
    kill();
    ServerProcess.deleteTree(data.resolve("version-2"));
    restart();
  }

  /** {@code 127.0.0.1:port}, as clients are given it. */
  public String address() {
    return "127.0.0.1:" + port;
  }

  /** {@code zk://127.0.0.1:port}. */
  @Override
  public String url() {
    return "zk://" + address();
  }
}
