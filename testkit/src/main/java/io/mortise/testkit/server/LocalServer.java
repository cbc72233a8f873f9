package io.mortise.testkit.server;

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
 * A server in a process of its own, on a port of the loopback. Its folder and its process are gone
 * after {@link #close()}, and at the latest when the JVM ends. For one thread.
 */
public abstract class LocalServer implements AutoCloseable {
  final ServerProcess process;
  final int port;

  LocalServer(ServerProcess process, int port) {
    this.process = process;
    this.port = port;
  }

  /** The port for plain connections. */
  public int port() {
    return port;
  }

  /** Where a store finds it, with all that is needed to be let in. */
  public abstract String url();

  /** Ends it and all its connections without warning, as kill -9 of all its processes does. */
  public void kill() {
    process.kill();
  }

  /** Starts it again on the same port and data, after {@link #kill()} or while it runs. */
  public void restart() {
    process.restart();
  }

  /** Stops its processes from running; connections stay open, and nobody answers. */
  public void pause() {
    process.pause();
  }

  /** Lets them run on. */
  public void resume() {
    process.resume();
  }

  @Override
  public void close() {
    process.close();
  }

  /**
   * Three servers that elect a leader among them, each a process of its own. For one thread.
   *
   * @param <S> what a member is
   */
  public abstract static class LocalCluster<S extends LocalServer> implements AutoCloseable {
    static final int MEMBERS = 3;
    private static final Duration ELECTION = Duration.ofSeconds(60);

    private final List<S> members;

    LocalCluster(List<S> members) {
      this.members = List.copyOf(members);
    }

    /**
     * Starts members side by side, since none of them serves before most are there. Those that
     * started are closed if another did not.
     */
    static <S extends LocalServer> List<S> startAll(List<Supplier<S>> starts) {
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

    /** How many members there are; they are numbered from 0. */
    public final int size() {
      return members.size();
    }

    /** One member, to be killed, restarted, paused. */
    public final S member(int number) {
      return members.get(number);
    }

    /** The addresses of all members as a store's URL, this one first. */
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

    /** The leader that a member knows; less than 0 if it knows none. */
    abstract int leaderBy(int asked);

    @Override
    public final void close() {
      members.forEach(LocalServer::close);
    }
  }
}
