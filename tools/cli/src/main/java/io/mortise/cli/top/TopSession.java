package io.mortise.cli.top;

import io.mortise.admin.LockAdmin;
import io.mortise.admin.LockParticipant;
import io.mortise.cli.view.EvictionPrompt;
import io.mortise.console.ConsoleAction;
import io.mortise.console.observer.Evictor;
import io.mortise.console.observer.Observer;
import io.mortise.console.observer.SeenLock;
import io.mortise.console.view.LockFormatter;
import io.mortise.console.view.OutputSanitizer;
import io.mortise.spi.time.Ticker;
import java.io.IOException;
import java.io.OutputStream;
import java.time.Duration;
import java.time.InstantSource;
import java.time.ZoneId;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One run of {@code mortise top}. The calling thread draws and reads keys, and never waits for the
 * store: an observer and the requests of keys have their own threads.
 */
public final class TopSession {
  private static final long TICK_MILLIS = 250;
  private static final long SNAPSHOT = Duration.ofSeconds(1).toNanos();
  private static final long LOOK = Duration.ofSeconds(2).toNanos();

  /** How long the end waits for actions in progress. */
  private static final Duration PATIENCE = Duration.ofSeconds(5);

  private final Observer observer;
  private final Evictor evictor;
  private final TopModel model;
  private final TopView view;
  private final Ticker ticker;
  private final Queue<Runnable> answers = new ConcurrentLinkedQueue<>();
  private final List<Deed> deeds = new CopyOnWriteArrayList<>();
  private final ExecutorService asking =
      Executors.newSingleThreadExecutor(task -> daemon(task, "mortise-top-asks"));
  private TopSnapshot.@Nullable Query shown;
  private long shownAt;
  private long lookedAt;

  /** The number of requests without an answer. Confined to the drawing thread. */
  private int pending;

  /**
   * Creates a session on a store.
   *
   * @param share of the store's time that observation may take
   * @param allowed the allowed actions besides observation
   */
  public TopSession(LockAdmin admin, double share, Set<ConsoleAction> allowed) {
    this(admin, share, allowed, Ticker.SYSTEM);
  }

  TopSession(LockAdmin admin, double share, Set<ConsoleAction> allowed, Ticker ticker) {
    this.ticker = ticker;
    this.observer = new Observer(admin, share, ticker, InstantSource.system());
    this.evictor = new Evictor(admin, observer, "terminal");
    this.model = new TopModel(allowed, new StoreRequests());
    this.view =
        new TopView(
            OutputSanitizer.text(OutputSanitizer.hide(admin.store().display())),
            ZoneId.systemDefault());
  }

  /**
   * Shows the store until the user quits. Blocks.
   *
   * @param told receives sentences about actions on locks, once, when the screen is closed, at any
   *     end of the process but by SIGKILL. Waits briefly for actions in progress.
   * @throws IOException if the terminal cannot be used
   */
  public void run(OutputStream out, boolean colours, Consumer<List<String>> told)
      throws IOException {
    observer.start();
    try (TerminalScreen screen =
        TerminalScreen.open(out, colours, () -> told.accept(done()), PATIENCE.plusSeconds(1))) {
      while (!model.isEnded()) {
        step();
        screen.refresh();
        screen.draw(view.lines(model, screen.columns(), screen.rows()));
        KeyPress key = screen.keys().next(TICK_MILLIS);
        if (key != null) {
          model.press(key);
        }
      }
    } finally {
      close();
    }
  }

  TopModel model() {
    return model;
  }

  /** The number of requests without an answer. */
  int pending() {
    return pending;
  }

  /** Applies available answers, and updates the model. */
  void step() {
    for (Runnable answer = answers.poll(); answer != null; answer = answers.poll()) {
      answer.run();
    }
    watch();
  }

  void close() {
    asking.shutdownNow();
    observer.close();
  }

  private void ask(Runnable request) {
    pending++;
    asking.execute(
        () -> {
          try {
            request.run();
          } finally {
            answers.add(
                () -> {
                  pending--;
                  lookedAt = ticker.nanos();
                });
          }
        });
  }

  private static Thread daemon(Runnable task, String name) {
    Thread thread = new Thread(task, name);
    thread.setDaemon(true);
    return thread;
  }

  private void watch() {
    observer.watched();
    if (model.isPaused() && model.snapshot() != null) {
      return;
    }
    long now = ticker.nanos();
    TopSnapshot.Query query = model.query();
    if (!query.equals(shown) || now - shownAt >= SNAPSHOT) {
      model.show(TopSnapshot.of(observer, query));
      shown = query;
      shownAt = now;
    }
    String open = model.open();
    // Unanswered inspections would delay the requests of keys.
    if (open != null && pending == 0 && now - lookedAt >= LOOK) {
      ask(() -> look(open, null, false));
    }
  }

  /** Executes the requests of keys, one after the other. */
  private final class StoreRequests implements TopModel.Requests {
    @Override
    public void look(String name, @Nullable ConsoleAction purpose) {
      ask(() -> TopSession.this.look(name, purpose, true));
    }

    @Override
    public void evict(String name, LockParticipant party, boolean now) {
      begin(name, () -> TopSession.this.evict(name, party, now));
    }

    @Override
    public void open(String name) {
      begin(name, () -> TopSession.this.open(name));
    }
  }

  /**
   * Inspects a lock.
   *
   * @param wanted whether a key requested it; a failure is then shown
   */
  private void look(String name, @Nullable ConsoleAction purpose, boolean wanted) {
    try {
      SeenLock lock = observer.look(name);
      answers.add(() -> model.looked(lock, purpose));
    } catch (RuntimeException e) {
      if (wanted) {
        answers.add(() -> model.say(message(e)));
      }
    }
  }

  private static String message(RuntimeException e) {
    return OutputSanitizer.message(e);
  }

  private void begin(String name, Supplier<String> task) {
    Deed deed = new Deed(name, new CompletableFuture<>());
    deeds.add(deed);
    ask(() -> tell(deed, task));
  }

  private void tell(Deed deed, Supplier<String> task) {
    String told;
    try {
      told = task.get();
    } catch (RuntimeException e) {
      told = "What came of it is not known: " + message(e);
    }
    String result = told;
    answers.add(() -> model.say(result));
    deed.told().complete(result);
    look(deed.lock(), null, false);
  }

  private List<String> done() {
    long since = System.nanoTime();
    return deeds.stream()
        .map(deed -> deed.outcome(PATIENCE.toNanos() - (System.nanoTime() - since)))
        .toList();
  }

  /** An action on a lock, with the future report. */
  private record Deed(String lock, CompletableFuture<String> told) {
    String outcome(long nanos) {
      try {
        return told.get(Math.max(0, nanos), TimeUnit.NANOSECONDS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      } catch (ExecutionException | TimeoutException e) {
        // As below.
      }
      return "The store has not answered for lock '"
          + OutputSanitizer.text(lock)
          + "'. What came of it is not known.";
    }
  }

  /** Evicts exactly the participant on the screen, or none. */
  private String evict(String name, LockParticipant shown, boolean now) {
    SeenLock lock = observer.look(name);
    Optional<LockParticipant> holder = find(lock.info().holders(), shown);
    Optional<LockParticipant> party = holder.or(() -> find(lock.info().waiters(), shown));
    if (party.isEmpty()) {
      return "This hold or wait has ended by now. Nothing was done.";
    }
    boolean dead = holder.isPresent() && LockFormatter.isGone(party.get());
    if (dead && !now && !lock.info().shutFor().isZero()) {
      return EvictionPrompt.outlived(lock.info()) + " Nothing was done. With E it opens at once.";
    }
    return evictor.evict(name, party.get(), holder.isPresent(), now, null).message();
  }

  private static Optional<LockParticipant> find(
      List<LockParticipant> parties, LockParticipant shown) {
    return parties.stream()
        .filter(party -> party.attempt().equals(shown.attempt()) && party.token() == shown.token())
        .findFirst();
  }

  private String open(String name) {
    SeenLock lock = observer.look(name);
    boolean held = lock.info().holders().stream().anyMatch(party -> !LockFormatter.isGone(party));
    if (held) {
      return "Somebody holds lock '" + OutputSanitizer.text(name) + "' by now. Nothing was done.";
    }
    return evictor.open(name, null).message();
  }
}
