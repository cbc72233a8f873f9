package io.mortise.testkit.server;

import io.mortise.annotation.Beta;
import io.mortise.testkit.BoundedWait;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * A server of a test, on a loopback port, which the test can kill and pause. It runs as a {@link
 * ServerProcess}, or, for instance, in a container. For one thread.
 *
 * <p>Each method returns when the server is in the requested state.
 */
@Beta
public interface LocalServer extends AutoCloseable {
  /** The port for plain connections. It stays the same while the server lives. */
  int port();

  /** The URL of a store in it, including credentials. */
  String url();

  /** Ends it and all its connections without warning, as kill -9 of all its processes does. */
  void kill();

  /**
   * Starts it again on the same port and data, after {@link #kill()} or while it runs, and waits
   * until it serves.
   */
  void restart();

  /** Pauses its processes; connections stay open, without answers. */
  void pause();

  /** Resumes its processes. */
  void resume();

  /** Ends it, in whatever state it is, and removes its files. */
  @Override
  void close();

  /**
   * Three servers on 127.0.0.1 that elect a leader among them, and are numbered from 0. For one
   * thread.
   *
   * @param <S> the type of a member
   */
  @Beta
  abstract class LocalCluster<S extends LocalServer> implements AutoCloseable {
    /** How many members there are. */
    protected static final int MEMBERS = 3;

    private static final Duration ELECTION = Duration.ofSeconds(60);

    private final List<S> members;

    /**
     * Of members that run.
     *
     * @param members see {@link #startAll}
     */
    protected LocalCluster(List<S> members) {
      this.members = List.copyOf(members);
    }

    /**
     * Starts members concurrently, since none serves before a majority has started. If one fails to
     * start, the others are closed.
     *
     * @throws IllegalStateException if one fails to start
     */
    public static <S extends LocalServer> List<S> startAll(List<Supplier<S>> starts) {
      List<CompletableFuture<S>> starting =
          starts.stream()
              .map(
                  start ->
                      CompletableFuture.supplyAsync(
                          start, task -> new Thread(task, "mortise-member").start()))
              .toList();
      List<S> members = new ArrayList<>();
      CompletionException failure = null;
      for (CompletableFuture<S> start : starting) {
        try {
          members.add(start.join());
        } catch (CompletionException e) {
          failure = e;
        }
      }
      if (failure != null) {
        members.forEach(LocalServer::close);
        throw new IllegalStateException("A member of the cluster did not start.", failure);
      }
      return members;
    }

    /** The number of members, which are numbered from 0. */
    public final int size() {
      return members.size();
    }

    /** Returns a member. */
    public final S member(int number) {
      return members.get(number);
    }

    /** The addresses of all members on 127.0.0.1 as a store's URL, this one first. */
    public final String url(int first) {
      String scheme = member(0).url().replaceFirst("://.*", "://");
      return IntStream.range(0, size())
          .mapToObj(i -> "127.0.0.1:" + member((first + i) % size()).port())
          .collect(Collectors.joining(",", scheme, ""));
    }

    /** The member that leads. Waits until the given one, which must answer, knows one. */
    public final int leader(int asked) {
      return leaderAfter(-1, asked);
    }

    /** The member that leads. Waits until all members, which must answer, know the same one. */
    public final int leaderOfAll() {
      int[] found = {-1};
      BoundedWait.until(
          ELECTION,
          "all members knew one leader",
          () -> {
            found[0] = leaderBy(0);
            return found[0] >= 0
                && IntStream.range(1, size()).allMatch(i -> leaderBy(i) == found[0]);
          });
      return found[0];
    }

    /** Waits until the given member, which must answer, knows another leader than that one. */
    public final int leaderAfter(int former, int asked) {
      int[] found = {-1};
      BoundedWait.until(
          ELECTION,
          "another member led",
          () -> {
            found[0] = leaderBy(asked);
            return found[0] >= 0 && found[0] != former;
          });
      return found[0];
    }

    /**
     * The number of the leader that a member knows; negative if it knows none. Called repeatedly.
     *
     * @param asked the member, which runs
     */
    protected abstract int leaderBy(int asked);

    @Override
    public final void close() {
      members.forEach(LocalServer::close);
    }
  }
}
