package io.mortise.console;

import io.mortise.LockClient;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** A console of locks in memory, and requests to it as bytes. */
abstract class ConsoleHarness {
  static final String STATUS = "/api/v1/status";

  String store;
  LockClient client;
  Console console;
  RawHttp http;

  @BeforeEach
  void open() {
    store = "mem:" + UUID.randomUUID();
    client = LockClient.connect(store);
    start(Set.of());
  }

  @AfterEach
  void close() {
    console.close();
    client.close();
  }

  final void start(Set<ConsoleAction> allowed) {
    console = Console.builder(client).listen(loopback(0)).allow(allowed).budget(1).start();
    http = new RawHttp(console);
  }

  static InetSocketAddress loopback(int port) {
    return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
  }

  final Map<String, String> with(String name, String value) {
    Map<String, String> headers = http.authorized();
    headers.put(name, value);
    return headers;
  }
}
