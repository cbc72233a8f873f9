package io.mortise.cli.top;

import io.mortise.admin.LockParticipant;
import io.mortise.admin.LockParticipant.ClientInfo;
import io.mortise.console.observer.Observer;
import io.mortise.console.observer.SeenLock;
import io.mortise.console.observer.SeenSession;
import io.mortise.console.observer.Trouble;
import io.mortise.console.view.LockFormatter;
import io.mortise.console.view.LockFormatter.Condition;
import io.mortise.console.view.OutputSanitizer;
import io.mortise.spi.time.DurationText;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A lock with its sort keys.
 *
 * @param client of the first holder; null if unknown
 * @param held the time that the first holder has held so far; zero if unknown
 * @param waited the time that the first waiter has waited so far; zero if unknown
 */
record TopRow(
    SeenLock lock,
    Condition condition,
    Set<Trouble> troubles,
    @Nullable ClientInfo client,
    Duration held,
    Duration waited) {

  /** The order of the list. */
  enum TopOrder {
    TROUBLE,
    NAME,
    HELD,
    WAITING;

    /** The next order, after a press of the key. */
    TopOrder next() {
      return switch (this) {
        case TROUBLE -> NAME;
        case NAME -> HELD;
        case HELD -> WAITING;
        case WAITING -> TROUBLE;
      };
    }

    Comparator<TopRow> comparator() {
      Comparator<TopRow> name = Comparator.comparing(TopRow::name);
      Comparator<TopRow> held = Comparator.comparing(TopRow::held).reversed();
      Comparator<TopRow> waited = Comparator.comparing(TopRow::waited).reversed();
      return switch (this) {
        case NAME -> name;
        case HELD -> held.thenComparing(name);
        case WAITING ->
            Comparator.<TopRow>comparingInt(row -> -Math.abs(row.lock.waiters()))
                .thenComparing(waited)
                .thenComparing(name);
        case TROUBLE ->
            Comparator.comparingInt(TopRow::rank)
                .thenComparing(waited)
                .thenComparing(held)
                .thenComparing(name);
      };
    }

    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  static TopRow of(SeenLock lock, Trouble.Finder finder, Observer observer, Instant now) {
    Duration since = Duration.between(lock.at(), now);
    Duration waited = lock.waitedFor();
    return new TopRow(
        lock,
        finder.condition(lock),
        finder.of(lock),
        client(lock, observer),
        lock.heldFor().isZero() ? Duration.ZERO : lock.heldFor().plus(since),
        waited == null ? Duration.ZERO : waited.plus(since));
  }

  private static @Nullable ClientInfo client(SeenLock lock, Observer observer) {
    LockParticipant first = lock.first();
    if (first != null && first.client() != null) {
      return first.client();
    }
    String attempt = lock.firstAttempt();
    SeenSession session = attempt == null ? null : observer.session(SeenLock.session(attempt));
    return session == null ? null : session.client();
  }

  String name() {
    return lock.name();
  }

  int rank() {
    return troubles.isEmpty() ? Trouble.NO_RANK : troubles.iterator().next().rank();
  }

  /** Whether its name, its label or its process contains this text, ignoring case. */
  boolean matches(String wanted) {
    String text = wanted.toLowerCase(Locale.ROOT);
    return text.isEmpty()
        || has(lock.name(), text)
        || has(lock.firstLabel(), text)
        || (client != null && has(client.host() + ":" + client.pid(), text));
  }

  private static boolean has(String text, String wanted) {
    return text.toLowerCase(Locale.ROOT).contains(wanted);
  }

  static List<String> headings() {
    return List.of("NAME", "HOLDER", "HELD", "WAITING", "LONGEST", "TROUBLE", "LABEL");
  }

  List<String> cells() {
    int waiters = lock.waiters();
    return List.of(
        OutputSanitizer.text(lock.name()),
        holder(),
        age(held),
        waiters < 0 ? "some" : Integer.toString(waiters),
        age(waited),
        troubles.isEmpty() ? "" : String.join(" ", Trouble.words(troubles)),
        OutputSanitizer.text(lock.firstLabel()));
  }

  private String holder() {
    String more =
        lock.holders() < 0 ? " +some" : lock.holders() > 1 ? " +" + (lock.holders() - 1) : "";
    return switch (condition) {
      case HELD -> (client == null ? "(not known yet)" : LockFormatter.client(client)) + more;
      case GONE -> LockFormatter.goneHolder(client, lock.info().shutFor()) + more;
      case SHUT -> "(shut for " + DurationText.format(lock.info().shutFor()) + ")";
      case CHANGING_HANDS -> "(changing hands)";
      case FREE -> "-";
    };
  }

  private static String age(Duration age) {
    return age.isZero() ? "-" : DurationText.format(age);
  }
}
