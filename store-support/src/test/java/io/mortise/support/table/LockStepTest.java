package io.mortise.support.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.HoldTerms;
import io.mortise.LockName;
import io.mortise.spi.AttemptId;
import io.mortise.spi.ClientLabel;
import io.mortise.spi.Mode;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionNotification;
import io.mortise.support.table.LockRecord.HoldEntry;
import io.mortise.support.table.LockStep.StepResult;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class LockStepTest {
  private static final LockName NAME = LockName.of("lock");
  private static final List<SessionId> SESSIONS =
      List.of(
          new SessionId("sessionAaaaa"),
          new SessionId("sessionBbbbb"),
          new SessionId("sessionCcccc"),
          new SessionId("sessionDdddd"));
  private static final int CAPACITY = 3;
  private static final int STEPS = 2_000;

  /** The first session is dead, and the second has no connection. */
  private static final LockStep.Liveness LIVENESS =
      new LockStep.Liveness() {
        @Override
        public long left(SessionId session, long now) {
          return session.equals(SESSIONS.get(0)) ? 0 : 1_000_000;
        }

        @Override
        public boolean isConnected(SessionId session) {
          return !session.equals(SESSIONS.get(1));
        }

        @Override
        public @Nullable ClientLabel client(SessionId session, long now) {
          return null;
        }

        @Override
        public Duration ttl(SessionId session) {
          return Duration.ZERO;
        }
      };

  private final long seed = Long.getLong("mortise.seed", new Random().nextLong());
  private final Random random = new Random(seed);
  private long now = 1_795_600_000_000_000L;

  @Test
  void givenRandomRequests_thenAStepChangesNothingOfItsInput_andTheSameGivesTheSame() {
    LockDocument document = null;
    for (int i = 0; i < STEPS; i++) {
      now += random.nextInt(100_000);
      Request request = request();
      String before = shown(document);
      StepResult<Reply> step = LockStep.apply(document, request, LIVENESS, now);
      StepResult<Reply> again = LockStep.apply(document, request, LIVENESS, now);
      assertThat(shown(document)).as("-Dmortise.seed=" + seed).isEqualTo(before);
      assertThat(shown(again.document()))
          .as("-Dmortise.seed=" + seed)
          .isEqualTo(shown(step.document()));
      assertThat(again.reply()).isEqualTo(step.reply());
      assertThat(again.notifications()).isEqualTo(step.notifications());
      assertThat(again.obsolete()).isEqualTo(step.obsolete());
      document = step.document();
      assertFits(document);
    }
  }

  @Test
  void givenRandomRequests_thenADocumentThatWasWrittenAndReadAnswersTheSame() {
    LockDocument kept = null;
    LockDocument read = null;
    for (int i = 0; i < STEPS; i++) {
      now += random.nextInt(100_000);
      Request request = request();
      StepResult<Reply> step = LockStep.apply(kept, request, LIVENESS, now);
      StepResult<Reply> again = LockStep.apply(read, request, LIVENESS, now);
      assertThat(again.reply()).as("-Dmortise.seed=" + seed).isEqualTo(step.reply());
      assertThat(again.notifications()).isEqualTo(step.notifications());
      assertThat(again.changed()).isEqualTo(step.changed());
      assertThat(text(again.document())).isEqualTo(text(step.document()));
      assertIsChangedIfItSaysSo(kept, step);
      kept = step.document();
      read = DocumentCodec.decode(NAME, text(again.document()));
      assertFits(read);
      assertThat(text(read)).isEqualTo(text(kept));
    }
  }

  /** The time of a lock's last use is written with the next change. */
  private void assertIsChangedIfItSaysSo(@Nullable LockDocument before, StepResult<Reply> step) {
    LockDocument after = step.document();
    if (!step.changed() && before != null && after != null) {
      LockDocument copy = after.copy();
      copy.touched = before.touched;
      assertThat(shown(copy)).as("-Dmortise.seed=" + seed).isEqualTo(shown(before));
    } else if (!step.changed()) {
      assertThat(after).as("-Dmortise.seed=" + seed).isEqualTo(before);
    }
  }

  private static @Nullable String text(@Nullable LockDocument document) {
    return document == null ? null : DocumentCodec.encode(document);
  }

  @Test
  void givenHolderAndWaiter_whenTheHolderReleases_thenTheStepHandsOverAndLeavesANotification() {
    AttemptId first = new AttemptId(SESSIONS.get(2), 1);
    AttemptId second = new AttemptId(SESSIONS.get(3), 1);
    StepResult<Reply> held = LockStep.apply(null, exclusive(first), LIVENESS, now);
    StepResult<Reply> queued = LockStep.apply(held.document(), exclusive(second), LIVENESS, now);
    assertThat(queued.reply()).isInstanceOf(Reply.Queued.class);
    assertThat(queued.notifications())
        .containsExactly(new SessionNotification.Contended(NAME, first));
    StepResult<Reply> released =
        LockStep.apply(queued.document(), new Request.Abandon(NAME, first), LIVENESS, now);
    assertThat(released.obsolete()).containsExactly(first);
    assertThat(released.notifications())
        .singleElement()
        .isInstanceOfSatisfying(
            SessionNotification.HoldGranted.class,
            granted -> assertThat(granted.attempt()).isEqualTo(second));
  }

  @Test
  void givenStepOfManyGrantsWithLargeBlocks_thenTheNextRevisionsTokensAreAbove() {
    long revision = 7;
    AttemptId writer = new AttemptId(SESSIONS.get(2), 1);
    List<Request> waiting = new ArrayList<>();
    waiting.add(exclusive(writer));
    for (int i = 0; i < LockTable.STEPS; i++) {
      waiting.add(shared(new AttemptId(SESSIONS.get(3), i + 1)));
    }
    LockDocument queued = step(null, revision - 1, waiting).document();
    List<Request> together = new ArrayList<>();
    together.add(new Request.Abandon(NAME, writer));
    for (int i = 1; i < LockTable.STEPS; i++) {
      together.add(shared(new AttemptId(SESSIONS.get(2), i + 1)));
    }
    LockDocument granted = Objects.requireNonNull(step(queued, revision, together).document());
    assertThat(granted.holders).hasSize(2 * LockTable.STEPS - 1);
    // As if this record had not been kept.
    StepResult<List<Reply>> anew = step(null, revision + 1, List.of(exclusive(writer)));
    assertThat(anew.reply())
        .singleElement()
        .isInstanceOfSatisfying(
            Reply.Granted.class, next -> assertThat(next.token()).isGreaterThan(granted.lastToken));
  }

  private StepResult<List<Reply>> step(
      @Nullable LockDocument document, long revision, List<Request> requests) {
    return LockStep.apply(
        document,
        revision,
        LockTable.STEPS,
        LIVENESS,
        table -> requests.stream().map(request -> table.apply(request, now)).toList());
  }

  private static Request.Acquire shared(AttemptId attempt) {
    return new Request.Acquire(
        NAME, attempt, Mode.SHARED, true, HoldTerms.NONE, Request.MAX_TOKENS, 0, null);
  }

  private static Request.Acquire exclusive(AttemptId attempt) {
    return new Request.Acquire(NAME, attempt, Mode.EXCLUSIVE, true, HoldTerms.NONE, 1, 0, null);
  }

  private static void assertFits(@Nullable LockDocument document) {
    if (document != null) {
      int used = document.holders.values().stream().mapToInt(hold -> hold.weight).sum();
      assertThat((long) used).isEqualTo(document.used).isLessThanOrEqualTo(document.capacity);
      assertThat(document.waiters).isEqualTo(document.queue.size());
      assertThat(document.tickets).hasSameSizeAs(document.queue);
    }
  }

  private Request request() {
    AttemptId attempt =
        new AttemptId(SESSIONS.get(random.nextInt(SESSIONS.size())), 1 + random.nextInt(3));
    Mode mode = new Mode(1 + random.nextInt(CAPACITY), CAPACITY);
    return switch (random.nextInt(5)) {
      case 0, 1 -> new Request.Abandon(NAME, attempt);
      case 2 -> new Request.Adjust(NAME, attempt, mode, HoldTerms.NONE, random.nextInt(3), 0);
      default -> acquire(attempt, mode);
    };
  }

  private Request.Acquire acquire(AttemptId attempt, Mode mode) {
    HoldTerms terms =
        random.nextInt(4) == 0
            ? new HoldTerms(Duration.ofMillis(500), Duration.ofMillis(200), "timed")
            : HoldTerms.NONE;
    SessionId dead = random.nextInt(4) == 0 ? SESSIONS.get(0) : null;
    return new Request.Acquire(NAME, attempt, mode, true, terms, 5, 0, dead);
  }

  private static String shown(@Nullable LockDocument document) {
    if (document == null) {
      return "none";
    }
    StringBuilder text = new StringBuilder();
    text.append(document.capacity).append(' ').append(document.used);
    text.append(' ').append(document.lastToken).append(' ').append(document.nextTicket);
    text.append(' ').append(document.waiters).append(' ').append(document.shutUntil);
    text.append(' ').append(document.touched).append(' ').append(document.lastEnd);
    for (HoldEntry hold : document.holders.values()) {
      text.append('\n').append(hold.attempt).append(' ').append(hold.weight);
      text.append(' ').append(hold.token).append(' ').append(hold.tokens);
      text.append(' ').append(hold.atMostUntil).append(' ').append(hold.atLeastUntil);
      text.append(' ').append(hold.told).append(' ').append(hold.noted);
    }
    document.queue.values().forEach(waiter -> text.append('\n').append(waiter));
    return text.append(new TreeSet<>(document.tickets.values())).toString();
  }
}
