package shop;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A JVM that runs the shop. It ends by {@link #close()}, and with this JVM at the latest. */
final class Instance implements AutoCloseable {
  private static final Duration ANSWER = Duration.ofSeconds(60);
  private static final Pattern STARTED = Pattern.compile("Tomcat started on port (\\d+)");

  private final HttpClient http = HttpClient.newHttpClient();
  private final String name;
  private final Path log;
  private final Process process;
  private final Process lifeline;

  private Instance(String name, Path log, List<String> command, Map<String, String> environment)
      throws IOException {
    this.name = name;
    this.log = log;
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.environment().putAll(environment);
    process = builder.redirectErrorStream(true).redirectOutput(log.toFile()).start();
    // Its input ends with this JVM, also with one that is killed and runs no hooks.
    lifeline = new ProcessBuilder("sh", "-c", "read _; kill -9 " + process.pid()).start();
    // The process id may be reused later.
    process.onExit().thenRun(lifeline::destroyForcibly);
  }

  /**
   * Starts one, and does not wait for it.
   *
   * @param properties each as {@code name=value}
   */
  static Instance start(String name, Path folder, List<String> properties) throws IOException {
    return start(name, folder, properties, Map.of());
  }

  /** As {@link #start(String, Path, List)}, with variables of its environment. */
  static Instance start(
      String name, Path folder, List<String> properties, Map<String, String> environment)
      throws IOException {
    return new Instance(
        name, folder.resolve(name + ".log"), command(name, properties), environment);
  }

  /**
   * As {@link #start(String, Path, List)}, as the command of a {@code mortise run}.
   *
   * @param store keeps the lock that the instance runs under
   */
  static Instance startUnderLock(String store, String name, Path folder, List<String> properties)
      throws IOException {
    List<String> command = tool();
    command.addAll(List.of("run", "--store", store, name, "--"));
    command.addAll(command(name, properties));
    return new Instance(name, folder.resolve(name + ".log"), command, Map.of());
  }

  /** The words that start the tool {@code mortise}. */
  static List<String> tool() {
    List<String> command = java();
    command.add("io.mortise.cli.Main");
    return command;
  }

  private static List<String> java() {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp"));
    command.add(
        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")));
    return command;
  }

  private static List<String> command(String name, List<String> properties) {
    List<String> command = java();
    command.add("shop.Shop");
    command.add("--shop.instance=" + name);
    command.add("--server.address=127.0.0.1");
    command.add("--server.port=0");
    properties.forEach(property -> command.add("--" + property));
    return command;
  }

  String name() {
    return name;
  }

  String address() {
    return "http://127.0.0.1:" + port().orElseThrow(() -> new IllegalStateException(log()));
  }

  /** The port it listens on; empty until it has logged it. */
  private OptionalInt port() {
    Matcher started = STARTED.matcher(log());
    return started.find()
        ? OptionalInt.of(Integer.parseInt(started.group(1)))
        : OptionalInt.empty();
  }

  /** Its output so far. */
  String log() {
    try {
      return Files.readString(log);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Whether its health check succeeds. */
  boolean isUp() {
    if (!process.isAlive()) {
      throw new IllegalStateException("Instance " + name + " has ended:\n" + log());
    }
    if (port().isEmpty()) {
      return false;
    }
    try {
      return send("GET", "/actuator/health").statusCode() == 200;
    } catch (IOException e) {
      return false;
    }
  }

  HttpResponse<String> send(String method, String path) throws IOException {
    try {
      return http.send(
          HttpRequest.newBuilder(URI.create(address() + path))
              .method(method, BodyPublishers.noBody())
              .timeout(ANSWER)
              .build(),
          BodyHandlers.ofString());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException(e);
    }
  }

  /** Ends it without warning, as {@code kill -9} does. */
  void kill() {
    process.destroyForcibly();
    try {
      process.waitFor(20, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * Ends it as Kubernetes does.
   *
   * @return whether it has ended in time
   */
  boolean terminate(Duration grace) throws InterruptedException {
    process.destroy();
    return process.waitFor(grace.toMillis(), TimeUnit.MILLISECONDS);
  }

  /** Stops all its threads, as a long pause of the machine does. */
  void pause() throws IOException, InterruptedException {
    signal("-STOP");
  }

  /** Resumes its threads. */
  void resume() throws IOException, InterruptedException {
    signal("-CONT");
  }

  private void signal(String signal) throws IOException, InterruptedException {
    new ProcessBuilder("kill", signal, Long.toString(process.pid())).start().waitFor();
  }

  @Override
  public void close() {
    lifeline.destroyForcibly();
    kill();
  }
}
