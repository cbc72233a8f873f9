package io.mortise.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.internal.table.LockTable;
import io.mortise.spi.AttemptId;
import io.mortise.spi.LockName;
import io.mortise.spi.LockPage;
import io.mortise.spi.LockQuery;
import io.mortise.spi.LockStore;
import io.mortise.spi.LockView;
import io.mortise.spi.Mode;
import io.mortise.spi.News;
import io.mortise.spi.Renewal;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import io.mortise.spi.Terms;
import io.mortise.spi.Verdict;
import io.mortise.testkit.server.RedisServer;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The same random requests go to Redis and to the lock table, which is the specification, and the
 * answers are compared: tokens by their order, times by whether there are any. {@code
 * -Dmortise.seed=…} replays one stream, {@code -Dmortise.streams=…} says how many.
 */
class LockTableStreamTest {
  private static final Duration SHORT = Duration.ofMillis(300);
  private static final Duration PAUSE = Duration.ofMillis(360);
  private static final List<LockName> NAMES = List.of(LockName.of("a"), LockName.of("b/ü*["));

  @ParameterizedTest
  @EnumSource(Servers.class)
  @Timeout(240)
  void givenRandomRequests_whenSentToBoth_thenRedisAnswersAsTheLockTable(Servers version) {
    long fixed = Long.getLong("mortise.seed", 0);
    try (RedisServer server = version.start()) {
      int streams = fixed != 0 ? 1 : Integer.getInteger("mortise.streams", 4);
      for (int i = 0; i < streams; i++) {
        long seed = fixed != 0 ? fixed : new Random().nextLong();
        try (LockStore store = RedisStore.open(server.url() + "?namespace=stream" + i)) {
          new Stream(store, seed).run(400);
        } catch (AssertionError e) {
          throw new AssertionError(
              version + " differs from the lock table. Replay: -Dmortise.seed=" + seed, e);
        }
      }
    }
  }

  /** One stream of requests, and what both answered. */
  private static final class Stream {
    private final LockStore store;
    private final Random random;
    private final LockTable table = new LockTable();
    private final List<Party> parties = new ArrayList<>();
    private final Map<Party, Long> beats = new HashMap<>();
    private final Map<LockName, List<Request.Acquire>> attempts = new HashMap<>();
    private final Map<LockName, List<long[]>> tokens = new HashMap<>();
    private final List<String> log = new ArrayList<>();

    Stream(LockStore store, long seed) {
      this.store = store;
      this.random = new Random(seed);
      NAMES.forEach(
          name -> {
            attempts.put(name, new ArrayList<>());
            tokens.put(name, new ArrayList<>());
          });
      for (int i = 0; i < 4; i++) {
        join();
      }
    }

    private void join() {
      Party party = new Party(store);
      table.renew(party.spec, 0, 1, List.of(), now());
      parties.add(party);
      beats.put(party, 1L);
    }

    void run(int steps) {
      try {
        for (int i = 0; i < steps; i++) {
          step();
        }
        for (Party party : parties) {
          compareNews(party);
        }
      } catch (AssertionError e) {
        throw new AssertionError(
            String.join("\n", log.subList(Math.max(0, log.size() - 40), log.size())), e);
      }
    }

    private static long now() {
      return ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now());
    }

    private void step() {
      LockName name = NAMES.get(random.nextInt(NAMES.size()));
      int dice = random.nextInt(100);
      if (dice < 30) {
        fresh(name);
      } else if (dice < 50) {
        known(name).ifPresent(this::compare);
      } else if (dice < 75) {
        known(name).ifPresent(request -> compare(new Request.Abandon(name, request.attempt())));
      } else if (dice < 80) {
        known(name).ifPresent(this::adjust);
      } else if (dice < 84) {
        known(name).ifPresent(this::evict);
      } else if (dice < 87) {
        takeOver(name);
      } else if (dice < 92) {
        compareNews(parties.get(random.nextInt(parties.size())));
      } else if (dice < 96) {
        compareViews(name);
      } else if (dice < 97) {
        pause();
      } else {
        die();
      }
    }

    private java.util.Optional<Request.Acquire> known(LockName name) {
      List<Request.Acquire> all = attempts.get(name);
      int recent = Math.min(all.size(), 12);
      return recent == 0
          ? java.util.Optional.empty()
          : java.util.Optional.of(all.get(all.size() - 1 - random.nextInt(recent)));
    }

    private void fresh(LockName name) {
      Party party = parties.get(random.nextInt(parties.size()));
      Mode mode =
          name.value().equals("a")
              ? (random.nextInt(3) > 0 ? Mode.EXCLUSIVE : Mode.SHARED)
              : random.nextInt(40) == 0 ? Mode.EXCLUSIVE : Mode.permits(1 + random.nextInt(3), 3);
      Request.Acquire request =
          new Request.Acquire(
              name,
              party.attempt(),
              mode,
              random.nextBoolean(),
              terms(),
              random.nextInt(3) == 0 ? 1024 : 1,
              random.nextInt(10) == 0 ? 2_000_000_000_000_000L + random.nextInt(1000) : 0,
              null);
      attempts.get(name).add(request);
      compare(request);
    }

    private Terms terms() {
      return switch (random.nextInt(12)) {
        case 0 -> new Terms(SHORT, null, "short");
        case 1 -> new Terms(Duration.ofHours(1), null, "");
        case 2 -> new Terms(null, SHORT, "least ü");
        case 3 -> new Terms(Duration.ofHours(1), SHORT, "");
        case 4 -> new Terms(null, null, "label");
        default -> Terms.NONE;
      };
    }

    private void compare(Request request) {
      Party party = owner(request.attempt());
      if (party == null) {
        return;
      }
      Reply expected = table.apply(request, now());
      Reply actual = party.ask(request);
      log.add(request + "\n   table " + expected + "\n   redis " + actual);
      same(request.name(), expected, actual);
    }

    private Party owner(AttemptId attempt) {
      return parties.stream()
          .filter(party -> party.spec.id().equals(attempt.session()))
          .findFirst()
          .orElse(null);
    }

    private void same(LockName name, Reply expected, Reply actual) {
      assertThat(actual.getClass()).isEqualTo(expected.getClass());
      if (expected instanceof Reply.Granted one && actual instanceof Reply.Granted other) {
        token(name, one.token(), other.token());
        assertThat(other.tokens() == 1).isEqualTo(one.tokens() == 1);
        assertThat(other.wanted()).isEqualTo(one.wanted());
        near(one.atMostLeft(), other.atMostLeft());
      } else if (expected instanceof Reply.Queued one && actual instanceof Reply.Queued other) {
        assertThat(other.ahead()).isLessThanOrEqualTo(one.ahead());
        assertThat(other.ahead() == 0).isEqualTo(one.ahead() == 0);
        holder(name, one.holder(), other.holder());
        near(one.askAgain(), other.askAgain());
      } else if (expected instanceof Reply.Busy one && actual instanceof Reply.Busy other) {
        holder(name, one.holder(), other.holder());
        near(one.askAgain(), other.askAgain());
      } else if (expected instanceof Reply.Refused one && actual instanceof Reply.Refused other) {
        assertThat(other.why()).isEqualTo(one.why());
      } else {
        assertThat(actual).isEqualTo(expected);
      }
    }

    private void holder(LockName name, Reply.Holder one, Reply.Holder other) {
      assertThat(other == null).isEqualTo(one == null);
      if (one != null) {
        assertThat(other.attempt()).isEqualTo(one.attempt());
        token(name, one.token(), other.token());
        assertThat(other.sessionLeft().isZero()).isEqualTo(one.sessionLeft().isZero());
        near(one.sessionLeft(), other.sessionLeft());
      }
    }

    /** Tokens of both rise together: what is greater, equal, less in one is so in the other. */
    private void token(LockName name, long one, long other) {
      for (long[] pair : tokens.get(name)) {
        assertThat(Long.compare(other, pair[1])).isEqualTo(Long.compare(one, pair[0]));
      }
      tokens.get(name).add(new long[] {one, other});
    }

    private static void near(Duration one, Duration other) {
      assertThat(other == null).isEqualTo(one == null);
      if (one != null) {
        assertThat(other.minus(one).abs()).isLessThan(Duration.ofMillis(150));
      }
    }

    private void adjust(Request.Acquire request) {
      Mode mode =
          switch (random.nextInt(3)) {
            case 0 -> request.mode();
            case 1 -> new Mode(1, request.mode().capacity());
            default -> new Mode(Math.min(2, request.mode().capacity()), request.mode().capacity());
          };
      compare(
          new Request.Adjust(
              request.name(), request.attempt(), mode, terms(), random.nextInt(2) * 5));
    }

    private void evict(Request.Acquire request) {
      LockStore.Eviction how =
          random.nextBoolean() ? LockStore.Eviction.CLOSE : LockStore.Eviction.BREAK;
      Reply expected = table.evict(request.name(), request.attempt(), how, now());
      Reply actual = Party.join(store.evict(request.name(), request.attempt(), how));
      log.add("evict " + request.attempt() + " " + how + "\n   " + expected + "\n   " + actual);
      assertThat(actual).isEqualTo(expected);
    }

    private void takeOver(LockName name) {
      Party by = parties.get(random.nextInt(parties.size()));
      List<SessionId> dead =
          attempts.get(name).stream()
              .map(request -> request.attempt().session())
              .filter(id -> parties.stream().noneMatch(party -> party.spec.id().equals(id)))
              .distinct()
              .toList();
      if (dead.isEmpty()) {
        return;
      }
      SessionId id = dead.get(random.nextInt(dead.size()));
      assertThat(table.judge(id, now())).isInstanceOf(Verdict.SessionEnded.class);
      assertThat(Party.join(store.judge(id))).isInstanceOf(Verdict.SessionEnded.class);
      Request.Acquire request =
          new Request.Acquire(
              name,
              by.attempt(),
              name.value().equals("a") ? Mode.EXCLUSIVE : Mode.permits(2, 3),
              random.nextBoolean(),
              Terms.NONE,
              1,
              0,
              id);
      attempts.get(name).add(request);
      compare(request);
    }

    private void die() {
      Party party = parties.remove(random.nextInt(parties.size()));
      log.add("dies " + party.spec.id());
      table.close(party.spec.id());
      Party.join(party.session.close());
      join();
    }

    private void pause() {
      log.add("pause");
      try {
        Thread.sleep(PAUSE.toMillis());
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }

    private void compareNews(Party party) {
      long beat = beats.get(party);
      Renewal.Renewed expected =
          (Renewal.Renewed) table.renew(party.spec, beat, beat + 1, List.of(), now());
      table.renew(
          party.spec,
          beat + 1,
          beat + 2,
          expected.news().stream().map(Renewal.Item::id).toList(),
          now());
      beats.put(party, beat + 2);
      List<String> told = party.news().stream().map(Stream::shown).toList();
      log.add("news of " + party.spec.id() + " " + told);
      assertThat(told)
          .isEqualTo(expected.news().stream().map(Renewal.Item::news).map(Stream::shown).toList());
    }

    private static String shown(News news) {
      if (news instanceof News.Granted granted) {
        return "granted %s %s %s %s %s"
            .formatted(
                granted.name(),
                granted.attempt(),
                granted.tokens() == 1,
                granted.wanted(),
                granted.timed());
      }
      return news.toString();
    }

    private void compareViews(LockName name) {
      LockQuery query = new LockQuery(name, null, 1, random.nextBoolean());
      LockPage expected = table.inspect(query, now());
      LockPage actual = Party.join(store.inspect(query));
      log.add("inspect " + query + "\n   " + expected + "\n   " + actual);
      assertThat(actual.locks()).hasSameSizeAs(expected.locks());
      for (int i = 0; i < actual.locks().size(); i++) {
        LockView one = expected.locks().get(i);
        LockView other = actual.locks().get(i);
        assertThat(other.capacity()).isEqualTo(one.capacity());
        near(one.closedFor(), other.closedFor());
        parties(name, one.holders(), other.holders());
        parties(name, one.waiters(), other.waiters());
      }
    }

    private void parties(LockName name, List<LockView.Party> one, List<LockView.Party> other) {
      assertThat(other.stream().map(Stream::shown).collect(Collectors.joining("\n")))
          .isEqualTo(one.stream().map(Stream::shown).collect(Collectors.joining("\n")));
      for (int i = 0; i < one.size(); i++) {
        token(name, one.get(i).token(), other.get(i).token());
        near(one.get(i).since(), other.get(i).since());
        near(one.get(i).atMostLeft(), other.get(i).atMostLeft());
        near(one.get(i).sessionLeft(), other.get(i).sessionLeft());
      }
    }

    private static String shown(LockView.Party party) {
      return "%s %s %s %d %b"
          .formatted(
              party.attempt(),
              party.client(),
              party.label(),
              party.weight(),
              party.atMostLeft() != null);
    }
  }
}
