package io.mortise.redis.wire;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** A connection for a few questions, one after the other. For one thread. */
public final class Question implements AutoCloseable {
  private final Link link;

  private Question(Link link) {
    this.link = link;
  }

  /**
   * Connects. Blocks, for the endpoint's timeout at most.
   *
   * @throws ErrorReplyException if the server refuses
   * @throws IOException if it cannot be reached
   */
  public static Question to(Endpoint endpoint) throws IOException {
    Link link = new Link(endpoint);
    try {
      link.open();
      return new Question(link);
    } catch (IOException | RuntimeException | Error e) {
      link.kill();
      throw e;
    }
  }

  /**
   * Asks. Blocks, for the endpoint's timeout at most.
   *
   * @throws ErrorReplyException if the server answers with an error
   * @throws IOException if it does not answer
   */
  public @Nullable Object ask(String... words) throws IOException {
    return link.ask(words);
  }

  @Override
  public void close() {
    link.kill();
  }
}
