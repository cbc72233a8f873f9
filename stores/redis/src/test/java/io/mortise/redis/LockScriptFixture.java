package io.mortise.redis;

import io.mortise.redis.LockScriptRunner.ScriptResult;
import io.mortise.testserver.RedisServer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.TestInstance;

/** A server on which scripts run at a time that the test sets, with live sessions. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class LockScriptFixture {
  static final String P = "m:";
  static final int ALL = 1_000_000;
  static final long TTL = 10_000;
  static final String A = LockScriptRunner.attempt('A', 1);
  static final String B = LockScriptRunner.attempt('B', 1);
  static final String C = LockScriptRunner.attempt('C', 1);
  static final String D = LockScriptRunner.attempt('D', 1);

  private RedisServer server;
  LockScriptRunner script;

  @BeforeAll
  void start() {
    server = RedisServers.any();
    script = new LockScriptRunner(server);
  }

  @AfterAll
  void stop() {
    script.close();
    server.close();
  }

  @BeforeEach
  void reset() {
    script.reset();
    "ABCD".chars().forEach(session -> lives((char) session, TTL));
  }

  void lives(char session, long millis) {
    script.lives(P, session, millis);
  }

  ScriptResult run(String... operations) {
    return script.run(P, operations);
  }

  String ask(String operation) {
    return run(operation).answer();
  }
}
