package io.mortise.jdbc.sql;

import io.mortise.testkit.Machine;
import io.mortise.testkit.server.MariaDbServer;
import io.mortise.testkit.server.MySqlServer;
import io.mortise.testkit.server.PostgresServer;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/** One server of each product serves all tests of the JVM, and ends with it. */
final class TestServers {
  private static final Map<TestDatabase.Kind, String> URLS = new EnumMap<>(TestDatabase.Kind.class);

  private TestServers() {}

  /** The URL of a user who may make databases; skips the test, or on CI fails, without server. */
  static synchronized String url(TestDatabase.Kind kind) {
    return URLS.computeIfAbsent(kind, TestServers::start);
  }

  private static String start(TestDatabase.Kind kind) {
    return switch (kind) {
      case POSTGRESQL ->
          start(kind, PostgresServer.installed(), program -> PostgresServer.start(program).url());
      case MYSQL ->
          start(kind, MySqlServer.bundled(), program -> MySqlServer.start(program).adminUrl());
      case MARIADB ->
          start(
              kind, MariaDbServer.installed(), program -> MariaDbServer.start(program).adminUrl());
      case H2, SQLITE -> throw new IllegalArgumentException(kind + " is no server.");
    };
  }

  private static String start(
      TestDatabase.Kind kind, Optional<Path> program, Function<Path, String> starter) {
    return starter.apply(Machine.required(program, "A server for " + kind));
  }
}
