package io.mortise.cli.top;

import io.mortise.admin.LockInfo;
import io.mortise.admin.LockParticipant;
import io.mortise.cli.top.KeyPress.KeyName;
import io.mortise.cli.view.EvictionPrompt;
import io.mortise.console.ConsoleAction;
import io.mortise.console.observer.SeenLock;
import io.mortise.console.view.OutputSanitizer;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The state of the screen, and the effects of keys on it. Does not access the store. For one
 * thread.
 */
final class TopModel {
  /** The pages of the screen. */
  enum TopPage {
    LOCKS,
    LOCK,
    WAITS,
    HELP
  }

  /** Requests of keys to the store. */
  interface Requests {
    /** Looks at a lock; {@link TopModel#looked} receives the result. */
    void look(String name, @Nullable ConsoleAction purpose);

    /** Ends a hold or a wait if it is still there. */
    void evict(String name, LockParticipant party, boolean now);

    /** Opens a shut lock without a holder. */
    void open(String name);
  }

  /** The text of the last line until the store has answered. */
  private static final String ASKING = "…";

  private final Set<ConsoleAction> allowed;
  private final Requests requests;

  private TopPage page = TopPage.LOCKS;
  private TopRow.TopOrder order = TopRow.TopOrder.TROUBLE;
  private String filter = "";
  private boolean filtering;
  private boolean paused;
  private boolean ended;
  private @Nullable TopSnapshot snapshot;
  private int cursor;
  private @Nullable String chosenLock;
  private int scroll;
  private @Nullable String open;
  private @Nullable SeenLock detail;
  private @Nullable String chosenAttempt;
  private @Nullable TopDialog dialog;
  private String message = "";
  private int pageSize = 10;

  TopModel(Set<ConsoleAction> allowed, Requests requests) {
    this.allowed = Set.copyOf(allowed);
    this.requests = requests;
  }

  TopPage page() {
    return page;
  }

  TopRow.TopOrder order() {
    return order;
  }

  String filter() {
    return filter;
  }

  boolean isFiltering() {
    return filtering;
  }

  boolean isPaused() {
    return paused;
  }

  boolean isEnded() {
    return ended;
  }

  boolean mayEvict() {
    return allowed.contains(ConsoleAction.CLOSE);
  }

  boolean mayEvictNow() {
    return allowed.contains(ConsoleAction.BREAK) || allowed.contains(ConsoleAction.OPEN);
  }

  @Nullable TopSnapshot snapshot() {
    return snapshot;
  }

  /** The line of the chosen lock in the list. */
  int cursor() {
    return cursor;
  }

  /** The number of lines of the waits above the screen. */
  int scroll() {
    return scroll;
  }

  /** The name of the lock that is open; null if none is. */
  @Nullable String open() {
    return open;
  }

  /** The open lock; null until it was inspected. */
  @Nullable SeenLock detail() {
    return detail;
  }

  /** The attempt of the chosen holder or waiter; null if none was chosen. */
  @Nullable String chosenAttempt() {
    return chosenAttempt;
  }

  @Nullable TopDialog dialog() {
    return dialog;
  }

  String message() {
    return message;
  }

  TopSnapshot.Query query() {
    return new TopSnapshot.Query(filter, order, open);
  }

  /** Sets the number of lines of a list on the screen. */
  void pageSize(int lines) {
    pageSize = Math.max(1, lines);
  }

  /** Applies new data. The chosen lock stays chosen, wherever it is now in the list. */
  void show(TopSnapshot next) {
    snapshot = next;
    int at = cursor;
    for (int i = 0; chosenLock != null && i < next.rows().size(); i++) {
      at = next.rows().get(i).name().equals(chosenLock) ? i : at;
    }
    cursor = within(at);
  }

  /** Shows a message in the last line until the next key. */
  void say(String text) {
    message = text;
  }

  /** Applies an inspection of the open lock, and begins the action that requested it. */
  void looked(SeenLock lock, @Nullable ConsoleAction purpose) {
    if (!lock.name().equals(open)) {
      return;
    }
    detail = lock;
    if (message.equals(ASKING)) {
      message = "";
    }
    if (purpose != null) {
      ask(lock.info(), purpose == ConsoleAction.BREAK);
    }
  }

  private void ask(LockInfo lock, boolean now) {
    List<LockParticipant> parties = parties(lock);
    String chosen = chosenAttempt;
    LockParticipant party =
        chosen == null
            ? lock.holders().size() == 1 ? lock.holders().get(0) : null
            : parties.stream()
                .filter(each -> each.attempt().equals(chosen))
                .findFirst()
                .orElse(null);
    String name = "'" + OutputSanitizer.text(lock.name()) + "'";
    if (party == null && chosen != null) {
      say("The chosen hold or wait has ended by now. Choose with ↑ and ↓.");
    } else if (party == null && lock.holders().size() > 1) {
      say(
          "Lock "
              + name
              + " has "
              + lock.holders().size()
              + " holders. Choose one with ↑ and ↓ first.");
    } else if (party == null && lock.shutFor().isZero()) {
      say(EvictionPrompt.nobody(lock.name(), lock.shutFor()));
    } else if (party == null && !now) {
      say(EvictionPrompt.nobody(lock.name(), lock.shutFor()) + " With E it opens at once.");
    } else {
      ConsoleAction action =
          party == null ? ConsoleAction.OPEN : now ? ConsoleAction.BREAK : ConsoleAction.CLOSE;
      if (allowed.contains(action)) {
        dialog = new TopDialog(lock, party, now, "");
      } else {
        say(refusal(action));
      }
    }
  }

  private static String refusal(ConsoleAction action) {
    return "Not allowed here. To allow it, start mortise top --allow " + action + ".";
  }

  private static List<LockParticipant> parties(LockInfo lock) {
    return Stream.concat(lock.holders().stream(), lock.waiters().stream()).toList();
  }

  /** Handles a key. */
  void press(KeyPress key) {
    message = "";
    if (key.key() == KeyName.GONE) {
      ended = true;
    } else if (dialog != null) {
      answer(dialog, key);
    } else if (filtering) {
      type(key);
    } else if (key.key() == KeyName.CHARACTER) {
      command(key.character());
    } else {
      move(key.key());
    }
  }

  private void answer(TopDialog asked, KeyPress key) {
    if (key.key() == KeyName.ESCAPE) {
      dialog = null;
      say("Nothing was done.");
    } else if (asked.wantsName()) {
      typeName(asked, key);
    } else if (key.is('y') || key.is('Y')) {
      act(asked);
    } else {
      dialog = null;
      say("Nothing was done.");
    }
  }

  private void typeName(TopDialog asked, KeyPress key) {
    switch (key.key()) {
      case CHARACTER -> dialog = asked.typed(asked.typed() + Character.toString(key.character()));
      case BACKSPACE -> dialog = asked.typed(withoutLast(asked.typed()));
      case ENTER -> {
        if (asked.isConfirmed()) {
          act(asked);
        } else {
          dialog = null;
          say("That is not the lock's name. Nothing was done.");
        }
      }
      default -> {}
    }
  }

  private void act(TopDialog asked) {
    dialog = null;
    say(ASKING);
    LockParticipant party = asked.party();
    if (party == null) {
      requests.open(asked.lock().name());
    } else {
      requests.evict(asked.lock().name(), party, asked.now());
    }
  }

  private void type(KeyPress key) {
    switch (key.key()) {
      case CHARACTER -> filter += Character.toString(key.character());
      case BACKSPACE -> filter = withoutLast(filter);
      case ENTER -> {
        filtering = false;
        if (!filter.isEmpty() && snapshot != null && snapshot.rows().isEmpty()) {
          // No listed lock matches: the store may know one of exactly this name.
          openLock(filter, null);
        }
      }
      case ESCAPE -> {
        filtering = false;
        filter = "";
      }
      default -> {}
    }
    chosenLock = null;
    cursor = 0;
  }

  private static String withoutLast(String text) {
    return text.isEmpty() ? text : text.substring(0, text.offsetByCodePoints(text.length(), -1));
  }

  private void command(int character) {
    switch (character) {
      case 'q' -> ended = true;
      case 'j' -> move(KeyName.DOWN);
      case 'k' -> move(KeyName.UP);
      case '/' -> {
        page = TopPage.LOCKS;
        close();
        filtering = true;
      }
      case 's' -> order = page == TopPage.LOCKS ? order.next() : order;
      case 'p' -> paused = !paused;
      case 'w' -> toggle(TopPage.WAITS);
      case '?' -> toggle(TopPage.HELP);
      case 'e' -> evict(ConsoleAction.CLOSE);
      case 'E' -> evict(ConsoleAction.BREAK);
      default -> {}
    }
  }

  private void toggle(TopPage other) {
    page = page == other ? (open == null ? TopPage.LOCKS : TopPage.LOCK) : other;
    scroll = 0;
  }

  private void evict(ConsoleAction form) {
    if (form == ConsoleAction.CLOSE ? !mayEvict() : !mayEvictNow()) {
      say(refusal(form));
    } else if (page == TopPage.LOCKS && chosen() != null) {
      openLock(chosen(), form);
    } else if (page == TopPage.LOCK && open != null) {
      say(ASKING);
      requests.look(open, form);
    }
  }

  private @Nullable String chosen() {
    return snapshot == null || cursor >= snapshot.rows().size()
        ? null
        : snapshot.rows().get(cursor).name();
  }

  private void openLock(@Nullable String name, @Nullable ConsoleAction purpose) {
    if (name == null) {
      return;
    }
    page = TopPage.LOCK;
    open = name;
    detail = null;
    chosenAttempt = null;
    say(ASKING);
    requests.look(name, purpose);
  }

  private void close() {
    open = null;
    detail = null;
    chosenAttempt = null;
  }

  private void move(KeyName key) {
    switch (key) {
      case UP -> step(-1);
      case DOWN -> step(1);
      case PAGE_UP -> step(-pageSize);
      case PAGE_DOWN -> step(pageSize);
      case HOME -> step(Integer.MIN_VALUE / 2);
      case END -> step(Integer.MAX_VALUE / 2);
      case ENTER -> {
        if (page == TopPage.LOCKS) {
          openLock(chosen(), null);
        }
      }
      case ESCAPE, BACKSPACE -> back();
      default -> {}
    }
  }

  private void back() {
    switch (page) {
      case LOCKS -> filter = "";
      case LOCK -> {
        page = TopPage.LOCKS;
        close();
      }
      case WAITS, HELP -> toggle(page);
    }
  }

  private void step(int lines) {
    switch (page) {
      case LOCKS -> {
        cursor = within(cursor + lines);
        chosenLock = chosen();
      }
      case LOCK -> chooseParty(lines);
      case WAITS, HELP -> scroll = Math.max(0, Math.min(scroll + lines, 10_000));
    }
  }

  private int within(int line) {
    int last = snapshot == null ? 0 : snapshot.rows().size() - 1;
    return Math.max(0, Math.min(line, last));
  }

  private void chooseParty(int lines) {
    SeenLock lock = detail;
    if (lock == null) {
      return;
    }
    List<LockParticipant> parties = parties(lock.info());
    int at = -1;
    for (int i = 0; i < parties.size(); i++) {
      at = parties.get(i).attempt().equals(chosenAttempt) ? i : at;
    }
    int next = at < 0 && lines < 0 ? -1 : at + lines;
    chosenAttempt =
        parties.isEmpty() || next < 0
            ? null
            : parties.get(Math.min(next, parties.size() - 1)).attempt();
  }
}
