package io.mortise.support.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.HoldTerms;
import io.mortise.LockName;
import io.mortise.StoreUnfitException;
import io.mortise.spi.AttemptId;
import io.mortise.spi.ClientLabel;
import io.mortise.spi.Mode;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionNotification;
import io.mortise.spi.time.Ticker;
import io.mortise.support.liveness.BeatMonitor;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * Foreign or damaged documents are refused when they are decoded; otherwise every step can be taken
 * with them.
 */
class DocumentFuzzTest {
  private static final int MUTATIONS = 20_000;
  private static final long NOW = 1_795_600_000_000_000L;
  private static final LockName NAME = LockName.of("a/b");
  private static final SessionId OWN = new SessionId("AbCdEfGhIjKl");
  private static final SessionId OTHER = new SessionId("ZbCdEfGhIjKl");
  private static final List<String> ODD =
      List.of(
          "9223372036854775807",
          "-9223372036854775808",
          "9223372036854775806",
          "4611686018427387904",
          "99999999999999999999",
          "4294967296",
          "2147483648",
          "-1",
          "0",
          "",
          "-",
          "true",
          "\u001b[31m",
          "x".repeat(3_000));

  private static final String LOCK =
      String.join(
          "\n",
          "lock1\t3\t12345678\t7\t0\t1790000000000000",
          "end\t" + attempt(OWN, 3) + "\tHELD\tRELEASED",
          "hold\t"
              + attempt(OWN, 4)
              + "\t1790000000000000\t1\t77\t1\t"
              + Long.MAX_VALUE
              + "\t0\tfalse\tfalse\tfalse\tlabel",
          "hold\t"
              + attempt(OTHER, 4)
              + "\t1790000000000000\t2\t99\t5\t1790000000000000"
              + "\t1790000000000000\ttrue\ttrue\ttrue\t",
          "wait\t" + attempt(OTHER, 9) + "\t1790000000000000\t6\t1\t1\t0\t1000000\t1000\tlabel");

  private final Random random = new Random(1);

  private static String attempt(SessionId session, long number) {
    return new AttemptId(session, number).encoded();
  }

  private static String session() {
    SessionDocument session =
        new SessionDocument(new ClientLabel("host", 1, "name"), Duration.ofSeconds(15), NOW);
    AttemptId attempt = new AttemptId(OWN, 4);
    session.tell(new SessionNotification.HoldGranted(NAME, attempt, 77, 1, false, false), NOW);
    session.tell(new SessionNotification.Contended(NAME, attempt), NOW);
    return DocumentCodec.encode(session);
  }

  /** Replaces, removes or repeats one line or field, or adds or removes a character. */
  private String mutate(String text) {
    StringBuilder mutant = new StringBuilder(text);
    int at = random.nextInt(text.length());
    switch (random.nextInt(5)) {
      case 0 -> mutant.setCharAt(at, (char) random.nextInt(256));
      case 1 -> mutant.deleteCharAt(at);
      case 2 -> mutant.insert(at, random.nextBoolean() ? '\t' : '\n');
      case 3 -> {
        String[] lines = text.split("\n", -1);
        mutant.append('\n').append(lines[random.nextInt(lines.length)]);
      }
      default -> {
        List<String> fields = new ArrayList<>(List.of(text.split("(?<=[\t\n])|(?=[\t\n])", -1)));
        fields.set(random.nextInt(fields.size()), ODD.get(random.nextInt(ODD.size())));
        return String.join("", fields);
      }
    }
    return mutant.toString();
  }

  private <T> void assertDecodedOrRefused(
      String original, Function<String, @Nullable T> decode, Consumer<T> use) {
    int decoded = 0;
    for (int i = 0; i < MUTATIONS; i++) {
      String text = i == 0 ? original : mutate(original);
      T document;
      try {
        document = Objects.requireNonNull(decode.apply(text));
      } catch (StoreUnfitException e) {
        assertSayable(e);
        continue;
      }
      decoded++;
      try {
        use.accept(document);
      } catch (RuntimeException e) {
        throw new AssertionError("A step fails with " + text, e);
      }
    }
    assertThat(decoded).as("the control: some are documents").isBetween(100, MUTATIONS - 100);
  }

  /** A program that writes documents must not be able to write lines into logs, or flood them. */
  private static void assertSayable(Throwable failure) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      String message = Objects.requireNonNull(cause.getMessage());
      assertThat(message.length()).isLessThan(600);
      assertThat(message.chars().noneMatch(Character::isISOControl)).as(message).isTrue();
    }
  }

  @Test
  void givenLockThatWasChanged_thenItIsRefused_orAllStepsCanBeTaken() {
    List<Request> requests =
        List.of(
            acquire(OWN, 4, 1),
            acquire(OTHER, 9, 1),
            acquire(OTHER, 20, 3),
            new Request.Abandon(NAME, new AttemptId(OWN, 4)),
            new Request.Abandon(NAME, new AttemptId(OTHER, 9)),
            new Request.Adjust(
                NAME, new AttemptId(OWN, 4), new Mode(1, 3), HoldTerms.NONE, 100, 0));
    assertDecodedOrRefused(
        LOCK,
        text -> DocumentCodec.decode(NAME, text),
        lock -> {
          for (LockStep.Liveness sessions : List.of(new AllLive(5), new AllLive(0))) {
            lock.view(sessions, NOW);
            lock.isIdle(NOW);
            for (Request request : requests) {
              for (long revision : List.of(LockStep.BY_CLOCK, 500L)) {
                assertEncodes(
                    LockStep.apply(
                        lock,
                        revision,
                        LockTable.STEPS,
                        sessions,
                        table -> table.apply(request, NOW)));
              }
            }
            assertEncodes(LockStep.apply(lock, sessions, table -> table.sweep(NAME, NOW)));
          }
        });
  }

  private static Request acquire(SessionId session, long number, int weight) {
    return new Request.Acquire(
        NAME,
        new AttemptId(session, number),
        new Mode(weight, 3),
        true,
        HoldTerms.NONE,
        9,
        0,
        null);
  }

  private static void assertEncodes(LockStep.StepResult<?> result) {
    LockDocument lock = result.document();
    if (lock != null) {
      DocumentCodec.decode(NAME, DocumentCodec.encode(lock));
    }
  }

  private record AllLive(long micros) implements LockStep.Liveness {
    @Override
    public long left(SessionId session, long now) {
      return micros;
    }

    @Override
    public boolean isConnected(SessionId session) {
      return true;
    }

    @Override
    public @Nullable ClientLabel client(SessionId session, long now) {
      return null;
    }

    @Override
    public Duration ttl(SessionId session) {
      return Duration.ofSeconds(15);
    }
  }

  @Test
  void givenSessionThatWasChanged_thenItIsRefused_orAllStepsCanBeTaken() {
    assertDecodedOrRefused(
        session(),
        text -> DocumentCodec.decodeSession("session/a", text),
        session -> {
          session.left(NOW);
          session.isOverdue(NOW);
          session.isForgotten(NOW);
          session.verdict(NOW);
          session.observed(
              new BeatMonitor<String>(Ticker.SYSTEM).left("a", session.renewals(), session.ttl()));
          session.renewedAgo(NOW);
          session.tell(new SessionNotification.Contended(NAME, new AttemptId(OWN, 9)), NOW);
          session.renew(session.beat(), 5, List.of(1L), Duration.ofSeconds(15), NOW);
          session.notifications().forEach(item -> session.forget(item.notification().attempt()));
          DocumentCodec.decodeSession("session/a", DocumentCodec.encode(session));
        });
  }

  @Test
  void givenFactThatWasChanged_thenItIsRefused_orItCanBeUsed() {
    assertDecodedOrRefused(
        DocumentCodec.encode(new FactDocument(NOW, NOW + 60_000_000, 60_000_000, "content")),
        text -> DocumentCodec.decodeFact("fact/a", text),
        fact -> {
          assertThat(LockRecord.duration(fact.keep()).toNanos()).isNotNegative();
          Math.addExact(fact.version(), 1);
          Math.subtractExact(NOW, fact.until());
        });
  }

  /** The numbers of each part, one by one, at and beyond the ends of their ranges. */
  @Test
  void givenNumberBeyondItsRange_thenTheDocumentIsRefused() {
    String longest = IntStream.range(0, 100).mapToObj(i -> "9").collect(Collectors.joining());
    for (String number : List.of(Long.MIN_VALUE + "", longest)) {
      for (String line : LOCK.split("\n", -1)) {
        String[] fields = line.split("\t", -1);
        for (int i = 0; i < fields.length; i++) {
          if (fields[i].matches("\\d{1,19}")) {
            String[] changed = fields.clone();
            changed[i] = number;
            String text = LOCK.replace(line, String.join("\t", changed));
            assertThat(isRefused(text)).as(text).isTrue();
          }
        }
      }
    }
  }

  private static boolean isRefused(String text) {
    try {
      DocumentCodec.decode(NAME, text);
      return false;
    } catch (StoreUnfitException e) {
      assertSayable(e);
      return true;
    }
  }
}
