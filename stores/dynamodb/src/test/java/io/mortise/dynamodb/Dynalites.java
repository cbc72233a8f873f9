package io.mortise.dynamodb;

import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpServer;
import io.mortise.testkit.TestPrerequisites;
import io.mortise.testkit.contract.document.ClocklessStoreUnderTest;
import io.mortise.testserver.DynaliteServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;

/**
 * The servers that tests run against: dynalite, from npm. With {@code -Dmortise.dynamodb=none}
 * those tests are skipped, on CI too: not every machine reaches npm's packages.
 */
final class Dynalites {
  private static final AtomicInteger NAMESPACES = new AtomicInteger();

  private static @Nullable DynaliteServer shared;

  static {
    credentials();
  }

  private Dynalites() {}

  /** Sets credentials, which the emulator does not check. */
  static void credentials() {
    System.setProperty("aws.accessKeyId", "test");
    System.setProperty("aws.secretAccessKey", "test");
  }

  /** One that nobody in this JVM had before. */
  static String namespace() {
    return "test" + NAMESPACES.incrementAndGet();
  }

  /** The server that all tests of the JVM share. */
  static synchronized DynaliteServer shared() {
    DynaliteServer started = shared;
    if (started == null) {
      started = start();
      shared = started;
    }
    return started;
  }

  /** The program; where there is none, the test is skipped, or on CI fails. */
  static Path program() {
    Assumptions.assumeFalse(
        "none".equals(System.getProperty("mortise.dynamodb")), "SKIPPED: there is no npm here.");
    return TestPrerequisites.required(Installed.PROGRAM, "npm with Node 20, or its registry,");
  }

  /** A store of its own that looks for hand-offs so often that tests take it for a push. */
  static ClocklessStoreUnderTest underTest() {
    return new ClocklessStoreUnderTest(Dynalites::shared, "&poll=20ms");
  }

  /** Starts one, with the table. */
  static DynaliteServer start() {
    return withTable(DynaliteServer.start(program()));
  }

  static DynaliteServer withTable(DynaliteServer server) {
    DynamoDbStore.open(server.url() + "?create=true").close();
    return server;
  }

  /** A server that answers what the emulator does not. */
  static HttpServer stub(HttpHandler handler) throws IOException {
    HttpServer stub =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    stub.createContext("/", handler);
    stub.start();
    return stub;
  }

  static String url(HttpServer stub) {
    return "dynamodb://127.0.0.1:" + stub.getAddress().getPort() + "/locks";
  }

  /** Looked for once: where it is missing, that takes a while. */
  private static final class Installed {
    static final Optional<Path> PROGRAM = DynaliteServer.install(Path.of("src/test/dynalite"));
  }
}
