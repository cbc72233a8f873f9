package io.mortise.redis;

import io.mortise.redis.LockScript.Done;
import io.mortise.testkit.server.RedisServer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.TestInstance;

/** A server on which scripts run at a time that the test chooses, and sessions that live there. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class LockScriptCase {
  static final String P = "m:";
  static final int ALL = 1_000_000;
  static final long TTL = 10_000;
  static final String A = LockScript.attempt('A', 1);
  static final String B = LockScript.attempt('B', 1);
  static final String C = LockScript.attempt('C', 1);
  static final String D = LockScript.attempt('D', 1);

  private RedisServer server;
  LockScript script;

  @BeforeAll
  void start() {
    server = Servers.any();
    script = new LockScript(server);
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

  Done run(String... operations) {
    return script.run(P, operations);
  }

  String ask(String operation) {
    return run(operation).answer();
  }
}
