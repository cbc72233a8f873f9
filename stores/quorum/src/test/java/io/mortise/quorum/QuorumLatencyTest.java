package io.mortise.quorum;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.DistributedLock;
import io.mortise.LockClient;
import java.time.Duration;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/**
 * The cost of a majority of five, beside one server and beside itself with two members dead:
 * acquire and release on one thread. Meaningful on a quiet machine only.
 */
@EnabledIfSystemProperty(named = "mortise.quorum.latency", matches = "true")
class QuorumLatencyTest {
  private static final int ROUNDS = 7;
  private static final Duration TURN = Duration.ofMillis(700);

  /** Medians of the rounds' medians, in µs. */
  record LatencyMedians(double single, double five, double twoDead) {
    double toSingle() {
      return five / single;
    }

    double dead() {
      return twoDead / five;
    }
  }

  @Test
  @Timeout(200)
  void givenFiveMembers_thenAPairTakesLittleLonger_alsoWithTwoDead() throws Exception {
    LatencyMedians latencyMedians = measure();
    System.out.printf(
        "Pair: one server %.0f µs, majority of five %.0f µs (%.2f times), two of them dead %.0f µs (%.2f times)%n",
        latencyMedians.single(),
        latencyMedians.five(),
        latencyMedians.toSingle(),
        latencyMedians.twoDead(),
        latencyMedians.dead());
    assertThat(latencyMedians.toSingle()).isLessThanOrEqualTo(2.5);
    assertThat(latencyMedians.dead()).isLessThanOrEqualTo(1.5);
  }

  /** The three take turns, so that other load hits all of them. */
  static LatencyMedians measure() throws Exception {
    try (RedisMembers whole = new RedisMembers(5);
        RedisMembers dying = new RedisMembers(5);
        RedisMembers one = new RedisMembers(1);
        LockClient single = LockClient.connect(one.server(0).url());
        LockClient five = LockClient.connect(whole.url("quarantine=0s"));
        LockClient three = LockClient.connect(dying.url("quarantine=0s"))) {
      turn(three, TURN);
      dying.server(1).kill();
      dying.server(3).kill();
      double[] alone = new double[ROUNDS];
      double[] alive = new double[ROUNDS];
      double[] dead = new double[ROUNDS];
      turn(single, TURN.multipliedBy(2));
      turn(five, TURN.multipliedBy(2));
      turn(three, TURN.multipliedBy(2));
      for (int i = 0; i < ROUNDS; i++) {
        alone[i] = turn(single, TURN);
        alive[i] = turn(five, TURN);
        dead[i] = turn(three, TURN);
      }
      return new LatencyMedians(median(alone, ROUNDS), median(alive, ROUNDS), median(dead, ROUNDS));
    }
  }

  /** The median of a pair, in µs. */
  private static double turn(LockClient client, Duration length) throws InterruptedException {
    DistributedLock lock = client.lock("pair");
    double[] micros = new double[1_000_000];
    int count = 0;
    long end = System.nanoTime() + length.toNanos();
    for (long began = System.nanoTime(); began - end < 0 && count < micros.length; count++) {
      lock.acquire().close();
      long now = System.nanoTime();
      micros[count] = (now - began) / 1e3;
      began = now;
    }
    return median(micros, count);
  }

  private static double median(double[] values, int count) {
    double[] sorted = Arrays.copyOf(values, count);
    Arrays.sort(sorted);
    return sorted[count / 2];
  }
}
