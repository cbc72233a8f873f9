package io.mortise.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.internal.table.MemStore;
import io.mortise.spi.AttemptId;
import io.mortise.spi.LockName;
import io.mortise.spi.LockQuery;
import io.mortise.spi.LockStore;
import io.mortise.spi.LockStore.Eviction;
import io.mortise.spi.LockView;
import io.mortise.spi.Mode;
import io.mortise.spi.News;
import io.mortise.spi.Renewal;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import io.mortise.spi.Terms;
import io.mortise.spi.Verdict;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Sends the same random commands to the store and to the machine in memory that specifies it, and
 * compares the answers: all but times and the values of tokens, of which it demands that no two
 * grants share one.
 */
abstract class MirrorTest {
  private static final Duration TTL = Duration.ofMinutes(10);
  private static final String[] NAMES = {"mutex", "both", "both/2", "permits", "é名 '\"%_\\"};

  abstract LockStore open() throws Exception;

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 5, 6, 7, 8})
  void givenRandomCommands_whenStoreAndModelGetThem_thenTheyAnswerAlike(int seed) throws Exception {
    try (LockStore mem = new MemStore();
        LockStore store = open()) {
      new Mirror(mem, store, seed).run(600);
    }
  }

  private static final class Mirror {
    private final LockStore mem;
    private final LockStore store;
    private final Random random;
    private final List<TestSession> ours = new ArrayList<>();
    private final List<TestSession> models = new ArrayList<>();
    private final List<AttemptId> attempts = new ArrayList<>();
    private final Map<AttemptId, String> names = new HashMap<>();
    private final Map<String, AttemptId> minted = new HashMap<>();

    Mirror(LockStore mem, LockStore store, int seed) {
      this.mem = mem;
      this.store = store;
      this.random = new Random(seed);
    }

    void run(int steps) {
      for (int i = 0; i < 4; i++) {
        SessionId id = SessionId.random(random);
        ours.add(new TestSession(store, id, TTL));
        models.add(new TestSession(mem, id, TTL));
      }
      for (int i = 0; i < steps; i++) {
        String what = step(i);
        if (i % 50 == 49) {
          assertThat(views(store)).as(what).isEqualTo(views(mem));
        }
      }
      for (int i = 0; i < ours.size(); i++) {
        assertThat(news(ours.get(i))).isEqualTo(news(models.get(i)));
      }
    }

    private String step(int number) {
      int who = random.nextInt(ours.size());
      TestSession our = ours.get(who);
      TestSession model = models.get(who);
      int dice = random.nextInt(100);
      String what = "step " + number + " dice " + dice;
      if (dice < 85) {
        Request request = request(our, dice);
        what += " " + request;
        Reply reply = our.submit(request);
        assertThat(relation(request, reply, true))
            .as(what)
            .isEqualTo(relation(request, model.submit(request), false));
      } else if (dice < 90) {
        assertThat(news(our)).as(what).isEqualTo(news(model));
      } else if (dice < 93 && !attempts.isEmpty()) {
        AttemptId attempt = attempts.get(random.nextInt(attempts.size()));
        LockName name = LockName.of(names.get(attempt));
        Eviction how = random.nextBoolean() ? Eviction.CLOSE : Eviction.BREAK;
        what += " evict " + attempt + " " + how;
        assertThat(TestSession.get(store.evict(name, attempt, how)))
            .as(what)
            .isEqualTo(TestSession.get(mem.evict(name, attempt, how)));
      } else if (dice < 95) {
        assertThat(judged(store, our.id())).as(what).isEqualTo(judged(mem, our.id()));
      } else if (dice < 97) {
        assertThat(TestSession.get(store.sweep(100)))
            .as(what)
            .isEqualTo(TestSession.get(mem.sweep(100)));
      } else if (dice < 98) {
        TestSession.get(our.session.close());
        TestSession.get(model.session.close());
        SessionId id = SessionId.random(random);
        ours.set(who, new TestSession(store, id, TTL));
        models.set(who, new TestSession(mem, id, TTL));
      }
      return what;
    }

    private Request request(TestSession session, int dice) {
      boolean again = !attempts.isEmpty() && random.nextInt(3) > 0;
      int from = Math.max(0, attempts.size() - 25);
      AttemptId attempt =
          again ? attempts.get(from + random.nextInt(attempts.size() - from)) : session.attempt();
      String name = names.get(attempt);
      if (name == null) {
        name = NAMES[random.nextInt(NAMES.length)];
        names.put(attempt, name);
        attempts.add(attempt);
      }
      LockName lock = LockName.of(name);
      if (again && dice < 40) {
        return new Request.Abandon(lock, attempt);
      }
      Terms terms = new Terms(null, null, random.nextBoolean() ? "" : "label");
      int count = 1 + random.nextInt(20);
      if (again && dice < 48) {
        return new Request.Adjust(lock, attempt, mode(name), terms, random.nextInt(3));
      }
      SessionId dead = random.nextInt(8) == 0 ? ours.get(random.nextInt(4)).id() : null;
      return new Request.Acquire(
          lock, attempt, mode(name), random.nextInt(3) > 0, terms, count, 0, dead);
    }

    private Mode mode(String name) {
      if (random.nextInt(40) == 0) {
        return Mode.permits(1, 7);
      }
      return switch (name) {
        case "permits" -> Mode.permits(1 + random.nextInt(3), 3);
        case "mutex" -> Mode.EXCLUSIVE;
        default -> random.nextBoolean() ? Mode.EXCLUSIVE : Mode.SHARED;
      };
    }

    private String relation(Request request, Reply reply, boolean checked) {
      if (reply instanceof Reply.Granted granted) {
        if (checked) {
          check(request.name().value(), granted);
        }
        return "granted " + granted.tokens() + granted.wanted() + (granted.atMostLeft() == null);
      } else if (reply instanceof Reply.Queued queued) {
        return "queued " + queued.ahead() + holder(queued.holder());
      } else if (reply instanceof Reply.Busy busy) {
        return "busy " + holder(busy.holder());
      }
      return reply.toString();
    }

    private void check(String name, Reply.Granted granted) {
      // Blocks of different grants of a name never overlap.
      for (long token = granted.token(); token < granted.token() + granted.tokens(); token++) {
        AttemptId before = minted.putIfAbsent(name + " " + token, granted.attempt());
        assertThat(before == null ? granted.attempt() : before).isEqualTo(granted.attempt());
      }
    }

    private static String holder(Reply.Holder holder) {
      return holder == null ? "none" : holder.attempt() + " " + holder.sessionLeft().isZero();
    }

    private static boolean judged(LockStore store, SessionId session) {
      return TestSession.get(store.judge(session)) instanceof Verdict.SessionEnded;
    }

    private static List<String> news(TestSession session) {
      List<String> told = new ArrayList<>();
      Renewal.Renewed renewed = (Renewal.Renewed) session.renew();
      for (Renewal.Item item : renewed.news()) {
        News news = item.news();
        told.add(
            news instanceof News.Granted granted
                ? granted.name() + " " + granted.attempt() + granted.tokens() + granted.wanted()
                : news.toString());
      }
      session.renew(renewed.news().stream().map(Renewal.Item::id).toArray(Long[]::new));
      return told;
    }

    private static List<String> views(LockStore store) {
      List<String> views = new ArrayList<>();
      for (LockView view :
          TestSession.get(store.inspect(new LockQuery(null, null, 100, true))).locks()) {
        views.add(
            view.name()
                + " "
                + view.capacity()
                + parties(view.holders())
                + parties(view.waiters()));
      }
      return views;
    }

    private static List<String> parties(List<LockView.Party> parties) {
      return parties.stream()
          .map(party -> party.attempt() + party.label() + party.weight() + party.client())
          .toList();
    }
  }
}
