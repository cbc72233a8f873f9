package io.mortise.sql;

import io.mortise.testkit.TestPrerequisites;
import io.mortise.testserver.MariaDbServer;
import io.mortise.testserver.MySqlServer;
import io.mortise.testserver.PostgresServer;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;

/**
 * One server of each product serves all tests of the JVM, and ends with it. Public, for the loaders
 * of mutants.
 */
public enum TestServers {
  POSTGRESQL,
  MYSQL,
  MARIADB;

  private static final AtomicInteger NAMES = new AtomicInteger();
  private static final Map<TestServers, String> URLS = new EnumMap<>(TestServers.class);

  /** A database name that is new in this JVM. */
  public static String newName() {
    return "helpers" + NAMES.incrementAndGet();
  }

  /**
   * The URL of a user with the right to create databases; without a server, skips the test, or on
   * CI fails.
   */
  public String url() {
    synchronized (URLS) {
      return URLS.computeIfAbsent(this, TestServers::start);
    }
  }

  private static String start(TestServers server) {
    return switch (server) {
      case POSTGRESQL ->
          start(server, PostgresServer.installed(), program -> PostgresServer.start(program).url());
      case MYSQL ->
          start(server, MySqlServer.bundled(), program -> MySqlServer.start(program).adminUrl());
      case MARIADB ->
          start(
              server,
              MariaDbServer.installed(),
              program -> MariaDbServer.start(program).adminUrl());
    };
  }

  private static String start(
      TestServers server, Optional<Path> program, Function<Path, String> starter) {
    return starter.apply(TestPrerequisites.required(program, "A server for " + server));
  }
}
