package io.mortise.redis.wire;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The master of a set of servers, as Sentinels tell it. All of them are asked, since one that was
 * cut off still names the old master; the answer of the latest failover counts, and no answer that
 * is older than one heard before. Whether the server found there is a master it must say itself.
 * Thread-safe.
 */
public final class SentinelMaster implements Destination {
  private final List<Endpoint> sentinels;
  private final String name;
  private final Endpoint server;

  /** Number of the latest failover that was heard of. */
  private final AtomicLong latest = new AtomicLong();

  /**
   * Asks nobody yet.
   *
   * @param sentinels where they are, and how to get in; their timeout bounds each question
   * @param name what they call the set
   * @param server how to get into the master; its host and port do not matter
   */
  public SentinelMaster(List<Endpoint> sentinels, String name, Endpoint server) {
    this.sentinels = List.copyOf(sentinels);
    this.name = name;
    this.server = server;
  }

  /** What a Sentinel knows: after so many failovers the master is there. */
  private record Answer(long epoch, String host, int port) {}

  @Override
  public Endpoint find() throws IOException {
    Answer best = null;
    RuntimeException refusal = null;
    IOException silence = null;
    for (Endpoint sentinel : sentinels) {
      try {
        Answer answer = ask(sentinel);
        if (best == null || answer.epoch() > best.epoch()) {
          best = answer;
        }
      } catch (ErrorReplyException e) {
        refusal = e;
      } catch (IOException e) {
        silence = e;
      }
    }
    if (best != null) {
      long epoch = best.epoch();
      if (latest.getAndAccumulate(epoch, Math::max) > epoch) {
        throw new IOException(
            "Those Sentinels that answer do not know of the latest failover of '" + name + "'.");
      }
      return server.at(best.host(), best.port());
    } else if (refusal != null) {
      throw refusal;
    }
    throw new IOException("No Sentinel answers: " + sentinels + ".", silence);
  }

  private Answer ask(Endpoint sentinel) throws IOException {
    try (Question question = question(sentinel)) {
      Object address = question.ask("SENTINEL", "GET-MASTER-ADDR-BY-NAME", name);
      if (!(address instanceof List<?> parts) || parts.size() != 2) {
        throw new ErrorReplyException("NOMASTER Sentinel at " + sentinel + " knows none");
      }
      Object master = question.ask("SENTINEL", "MASTER", name);
      return new Answer(
          epoch(master instanceof List<?> fields ? fields : List.of()),
          String.valueOf(parts.get(0)),
          Integer.parseInt(String.valueOf(parts.get(1))));
    } catch (NumberFormatException e) {
      throw new IOException("Sentinel at " + sentinel + " answers in another form.", e);
    }
  }

  /** Says whose password is wrong, for it is not that of the servers. */
  private static Question question(Endpoint sentinel) throws IOException {
    try {
      return Question.to(sentinel);
    } catch (ErrorReplyException e) {
      throw new ErrorReplyException(
          String.valueOf(e.getMessage()).replaceFirst("\\.+$", "")
              + ", says Sentinel at "
              + sentinel
              + " of 'sentinel-user' and 'sentinel-password'");
    }
  }

  private static long epoch(List<? extends @Nullable Object> fields) {
    for (int i = 0; i + 1 < fields.size(); i += 2) {
      if ("config-epoch".equals(fields.get(i))) {
        return Long.parseLong(String.valueOf(fields.get(i + 1)));
      }
    }
    return 0;
  }

  @Override
  public void check(Endpoint found, String role) throws IOException {
    if (!role.equals("master")) {
      throw new IOException("The server at " + found + ", named by Sentinel, is a " + role + ".");
    }
  }

  @Override
  public String toString() {
    return name + " of " + sentinels;
  }
}
