package io.mortise.quorum;

import io.mortise.StoreUnavailableException;
import io.mortise.testkit.ManualTime;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.PriorityQueue;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;

/**
 * Time that moves by hand, its scheduled events, and delays of messages, some of which are lost.
 * For one thread.
 */
final class SimNetwork {
  private static final Duration QUICK = Duration.ofMillis(5);
  private static final int TRACE = 300;

  final ManualTime time = new ManualTime();
  final RandomGenerator random;
  private final PriorityQueue<ScheduledEvent> scheduledEvents =
      new PriorityQueue<>(
          Comparator.comparingLong(ScheduledEvent::at).thenComparingLong(ScheduledEvent::order));
  private final boolean traces;
  private long order;

  /** The latest events, printed for a broken promise. */
  private final Deque<String> trace = new ArrayDeque<>();

  /** Whether messages are lost and late now. */
  boolean isBad = true;

  /** After this long no client waits for an answer any more. */
  Duration patience = Duration.ofSeconds(40);

  int lossOneIn = 20;

  /** Of the late requests, one in that many is overtaken by later ones. */
  int strayOneIn = 4;

  private record ScheduledEvent(long at, long order, Runnable task) {}

  SimNetwork(RandomGenerator random, boolean traces) {
    this.random = random;
    this.traces = traces;
  }

  long now() {
    return time.nanos();
  }

  /** Records an event. */
  void tell(Object who, Object... what) {
    if (!traces) {
      return;
    }
    String told = Arrays.stream(what).map(String::valueOf).collect(Collectors.joining(" -> "));
    trace.add("%.3f s  %s  %s".formatted(now() / 1e9, who, told));
    if (trace.size() > TRACE) {
      trace.remove();
    }
  }

  String trace() {
    return String.join("\n", trace);
  }

  void after(Duration delay, Runnable task) {
    scheduledEvents.add(new ScheduledEvent(now() + delay.toNanos(), order++, task));
  }

  /** A random time up to that. */
  Duration upTo(Duration most) {
    return Duration.ofNanos(random.nextLong(most.toNanos()) + 1);
  }

  boolean oneIn(int chances) {
    return random.nextInt(chances) == 0;
  }

  /** Upper bound of a request's time in flight. */
  Duration inFlight() {
    return patience.multipliedBy(3).dividedBy(2);
  }

  int oneOf(int... choices) {
    return choices[random.nextInt(choices.length)];
  }

  /** Lets time pass, and runs all events that are due by then. */
  void pass(Duration duration, Runnable afterEach) {
    long end = now() + duration.toNanos();
    while (!scheduledEvents.isEmpty() && scheduledEvents.peek().at() <= end) {
      ScheduledEvent next = scheduledEvents.remove();
      time.advance(Duration.ofNanos(next.at() - now()));
      next.task().run();
      afterEach.run();
    }
    time.advance(Duration.ofNanos(end - now()));
  }

  /**
   * The connection of one client to one member: requests arrive in the order of sending, except for
   * a few late ones.
   */
  final class SimConnection {
    private long lastArrival;

    /** Number of restarts of the member: messages in flight before one are lost. */
    int connection;

    boolean cut;

    /** Of its messages, one in that many is late. */
    int lateOneIn = 10;

    /** Executes a step there, and answers once: with its result, or with the silence. */
    <T> void exchange(Supplier<T> step, Consumer<T> answer, Supplier<T> silence) {
      long sent = now();
      int sentOn = connection;
      long latency = latency().toNanos();
      boolean strays = latency > QUICK.toNanos() && oneIn(strayOneIn);
      long arrival = strays ? sent + latency : Math.max(lastArrival + 1, sent + latency);
      OnceConsumer<T> onceConsumer = new OnceConsumer<>(answer);
      if (!lost() && arrival - sent < inFlight().toNanos()) {
        lastArrival = strays ? lastArrival : arrival;
        after(
            Duration.ofNanos(arrival - sent),
            () -> {
              if (connection == sentOn) {
                T result = step.get();
                if (!lost()) {
                  after(latency(), () -> onceConsumer.accept(connection == sentOn, result));
                }
              }
            });
      }
      after(patience, () -> onceConsumer.accept(true, silence.get()));
    }

    private boolean lost() {
      return cut || (isBad && oneIn(lossOneIn));
    }

    private Duration latency() {
      return isBad && oneIn(lateOneIn) ? upTo(patience.multipliedBy(2)) : upTo(QUICK);
    }
  }

  private static final class OnceConsumer<T> {
    private final Consumer<T> answer;
    private boolean done;

    OnceConsumer(Consumer<T> answer) {
      this.answer = answer;
    }

    void accept(boolean arrives, T result) {
      if (arrives && !done) {
        done = true;
        answer.accept(result);
      }
    }
  }

  static StoreUnavailableException nobody() {
    return new StoreUnavailableException("No answer.");
  }

  static <T> List<T> listOf(int count, java.util.function.IntFunction<T> maker) {
    List<T> list = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      list.add(maker.apply(i));
    }
    return list;
  }
}
