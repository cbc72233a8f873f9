package io.mortise.nats;

import io.mortise.StoreUnavailableException;
import io.mortise.StoreUnfitException;
import io.mortise.internal.runtime.CompletionStages;
import io.mortise.internal.runtime.FailureText;
import io.mortise.spi.time.DurationText;
import io.mortise.spi.time.Ticker;
import io.mortise.support.document.DocumentTooLargeException;
import io.mortise.support.internal.server.ServerIdentity;
import io.nats.client.Connection;
import io.nats.client.JetStreamApiException;
import io.nats.client.JetStreamStatusException;
import io.nats.client.Message;
import io.nats.client.api.ApiResponse;
import io.nats.client.api.DiscardPolicy;
import io.nats.client.api.MessageInfo;
import io.nats.client.api.PublishAck;
import io.nats.client.api.PurgeResponse;
import io.nats.client.api.Republish;
import io.nats.client.api.ServerInfo;
import io.nats.client.api.StorageType;
import io.nats.client.api.StreamConfiguration;
import io.nats.client.api.StreamInfo;
import io.nats.client.impl.Headers;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The bucket of a namespace: a stream of JetStream with one message for each key. The client
 * library's own key-value calls block, so requests are made here, and the library takes their
 * answers apart.
 *
 * <p>The stream publishes sessions once more, when they are stored, and without their text: so a
 * process needs no consumer in the server to hear of its own. Thread-safe.
 */
final class NatsBucket implements AutoCloseable {
  static final int NO_MESSAGE = 10037;
  static final int NO_STREAM = 10059;
  private static final int NO_PURGE = 10110;
  private static final int NO_JETSTREAM = 10076;
  private static final int NO_JETSTREAM_FOR_ACCOUNT = 10039;
  private static final int OTHER_CONFIGURATION = 10058;
  private static final int OTHER_STREAM = 10060;
  private static final int WRONG_LAST_SEQUENCE = 10071;
  private static final int WRONG_LAST_SEQUENCE_SHORT = 10164;

  private static final String OLDEST = "2.9.0";
  private static final String API = "$JS.API.STREAM.";
  private static final String EXPECTED_STREAM = "Nats-Expected-Stream";
  private static final String EXPECTED_SEQUENCE = "Nats-Expected-Last-Subject-Sequence";
  private static final byte[] NOTHING = new byte[0];

  private final NatsConnector connector;
  private final NatsTarget target;
  private final Ticker ticker;
  private final String stream;
  private final ServerIdentity systems;

  /** When the bucket was made that was met last; empty before there is one. */
  private volatile String made = "";

  /** Sends nothing yet. The connection is closed with this, unless it is the application's. */
  NatsBucket(NatsConnector connector, NatsTarget target, Ticker ticker) {
    this.connector = connector;
    this.target = target;
    this.ticker = ticker;
    this.stream = "KV_" + target.bucket();
    this.systems = ServerIdentity.renewedByRestart("systems of NATS", target.toString());
  }

  Connection connection() {
    return connector.connection();
  }

  /** The beginning of the subjects of all keys. */
  String subjects() {
    return "$KV." + target.bucket() + ".";
  }

  /** The subject on which a change of that key is published once more. */
  String republished(String key) {
    return target.bucket() + "." + key;
  }

  /** The message of a key; with an error of {@link #NO_MESSAGE} or {@link #NO_STREAM} if none. */
  CompletionStage<MessageInfo> last(String key) {
    return ask(
        "MSG.GET.",
        "{\"last_by_subj\":\"" + subjects() + key + "\"}",
        answer -> new MessageInfo(answer, stream, false),
        NO_MESSAGE,
        NO_STREAM);
  }

  /**
   * A process asks for the stream when it opens a session. At another system it must, for its
   * former session is unknown there.
   */
  private void meet(StreamInfo found) {
    made = found.getCreateTime().toString();
    String conflict = systems.conflict(made, ticker.nanos());
    if (conflict != null) {
      throw new StoreUnfitException(conflict);
    }
  }

  /**
   * The stream as it is; with an error of {@link #NO_STREAM} if there is none. Completes
   * exceptionally with {@link StoreUnfitException} if locks cannot be kept there, so that a bucket
   * is checked that another has made meanwhile: a process begins with a key that has no message.
   *
   * @param question more that is asked, in JSON; may be empty
   */
  CompletionStage<StreamInfo> info(String question) {
    return ask("INFO.", question, StreamInfo::new, NO_STREAM)
        .thenApply(found -> found.hasError() ? found : checked(found));
  }

  /**
   * Writes a key if its last message is still the one with that number.
   *
   * @param expected 0 if it has none
   * @return the number of the new message; empty if it was not written
   */
  CompletionStage<OptionalLong> write(String key, String expected, Headers headers, byte[] text) {
    headers.put(EXPECTED_SEQUENCE, expected).put(EXPECTED_STREAM, stream);
    return send(subjects() + key, headers, text)
        .thenApply(answer -> written(answer, WRONG_LAST_SEQUENCE, WRONG_LAST_SEQUENCE_SHORT));
  }

  /**
   * Looks for the first message of a key after it was written. Completes exceptionally if it is not
   * found. A server of 2.9 whose files a power cut has damaged finds no message that it stores,
   * until it is started again: it would take a first message from each process.
   *
   * @param sequence empty if it was not written
   */
  CompletionStage<OptionalLong> checkFound(String key, OptionalLong sequence) {
    if (sequence.isEmpty()) {
      return CompletableFuture.completedFuture(sequence);
    }
    return last(key)
        .thenApply(
            found -> {
              if (found.hasError() || found.getSeq() < sequence.getAsLong()) {
                throw unavailable(
                    "does not find what it has just stored. If that goes on, start the server"
                        + " again");
              }
              return sequence;
            });
  }

  /**
   * The number of a message that was written; empty if it was not.
   *
   * @param refusals codes that say that it was not
   */
  private OptionalLong written(Message answer, int... refusals) {
    try {
      long sequence = new PublishAck(answer).getSeqno();
      // The bucket is still there, which says nothing against this write.
      var unused = made.isEmpty() ? null : systems.conflict(made, ticker.nanos());
      return OptionalLong.of(sequence);
    } catch (JetStreamApiException e) {
      checkError(e.getApiErrorCode(), e.getMessage(), refusals);
      return OptionalLong.empty();
    } catch (IOException e) {
      throw unavailable("answers something else: " + FailureText.said(e), e);
    }
  }

  /**
   * Forgets the message of a key, if it is still the one with that number or an earlier one.
   *
   * @return whether there was one; false also of a bucket that lets nobody purge
   */
  CompletionStage<Boolean> purge(String key, long sequence) {
    return ask(
            "PURGE.",
            "{\"filter\":\"" + subjects() + key + "\",\"seq\":" + (sequence + 1) + "}",
            PurgeResponse::new,
            NO_PURGE,
            NO_STREAM)
        .thenApply(answer -> !answer.hasError() && answer.getPurged() > 0);
  }

  /** Makes the bucket unless it is there. */
  CompletionStage<StreamInfo> make() {
    StreamConfiguration wanted =
        StreamConfiguration.builder()
            .name(stream)
            .subjects(subjects() + ">")
            .maxMessagesPerSubject(1)
            .discardPolicy(DiscardPolicy.New)
            .storageType(StorageType.File)
            .allowRollup(true)
            .allowDirect(true)
            .republish(new Republish(subjects() + "session.>", republished("session.>"), false))
            .build();
    return ask("CREATE.", wanted.toJson(), StreamInfo::new, OTHER_CONFIGURATION)
        .thenCompose(
            made -> made.hasError() ? info("") : CompletableFuture.completedFuture(checked(made)));
  }

  private StreamInfo checked(StreamInfo found) {
    StreamConfiguration is = found.getConfiguration();
    Republish republish = is.getRepublish();
    if (is.getStorageType() != StorageType.File) {
      throw unfit("is kept in memory: a restart forgets all locks");
    }
    if (!is.getMaxAge().isZero()) {
      throw unfit(
          "drops what is older than "
              + DurationText.formatExact(is.getMaxAge())
              + ", locks that are held too");
    }
    if (is.getDiscardPolicy() != DiscardPolicy.New) {
      throw unfit("drops locks when it is full (discard=old)");
    }
    if (is.getMirror() != null || is.getSealed()) {
      throw unfit("cannot be written: it is a mirror, or sealed");
    }
    if (is.getReplicas() > 1) {
      throw unfit(
          "has %s replicas: its servers may acknowledge two writes that expect the same revision"
              .formatted(is.getReplicas()));
    }
    if (republish == null
        || !republish.getDestination().equals(republished("session.>"))
        || !republish.getSource().equals(subjects() + "session.>")) {
      throw unfit(
          "does not republish '%s' as '%s'"
              .formatted(subjects() + "session.>", republished("session.>")));
    }
    meet(found);
    return found;
  }

  private StoreUnfitException unfit(String why) {
    return new StoreUnfitException(
        "Bucket '%s' %s (store=%s). Change it, or delete it while no lock is held: Mortise makes it anew."
            .formatted(target.bucket(), why, target));
  }

  /**
   * Completes exceptionally if locks cannot be kept here: the server is too old, the bucket is not
   * fit, or the user may not use it.
   *
   * @throws StoreUnfitException if the server is too old
   */
  CompletionStage<OptionalLong> check() {
    ServerInfo server = connection().getServerInfo();
    if (server.isOlderThanVersion(OLDEST)) {
      throw new StoreUnfitException(
          "NATS is of version %s (store=%s). Locks need 2.9 or later."
              .formatted(server.getVersion(), target));
    }
    return info("")
        .thenCompose(
            found ->
                found.hasError()
                    ? CompletableFuture.completedFuture(OptionalLong.empty())
                    : checkAccess())
        .exceptionally(
            failure -> {
              throw explained(CompletionStages.cause(failure));
            });
  }

  private RuntimeException explained(Throwable failure) {
    String told = connection().getLastError();
    if (failure.getCause() instanceof CancellationException
        || failure.getCause() instanceof JetStreamStatusException) {
      // No server takes the request. One without JetStream passes it on to those that have it.
      ServerInfo server = connection().getServerInfo();
      boolean isOfOthers = !server.isJetStreamAvailable() && server.getCluster() != null;
      return isOfOthers
          ? unavailable(
              "has no server with JetStream now: that of the URL has none, and its cluster '%s' neither. If that goes on, start nats-server with -js"
                  .formatted(FailureText.quoted(server.getCluster())),
              failure)
          : withoutJetStream(failure);
    }
    if (failure instanceof StoreUnavailableException
        && told != null
        && told.contains("Permissions Violation")) {
      return new StoreUnfitException(
          "NATS does not let this user use bucket '%s' (store=%s): %s. The page of the store has the permissions."
              .formatted(target.bucket(), target, FailureText.quoted(told)),
          failure);
    }
    return new CompletionException(failure);
  }

  /** A write that is refused to everybody, and to a user who may not write in another way. */
  private CompletionStage<OptionalLong> checkAccess() {
    return send(
            subjects() + "access", new Headers().put(EXPECTED_STREAM, stream + "-other"), NOTHING)
        .thenApply(answer -> written(answer, OTHER_STREAM));
  }

  /**
   * Makes a request about the stream. Completes exceptionally with the meaning of an error.
   *
   * @param body JSON
   * @param expected the codes of errors that are answers
   */
  private <A extends ApiResponse<A>> CompletionStage<A> ask(
      String request, String body, Function<Message, A> parse, int... expected) {
    return send(API + request + stream, null, body.getBytes(StandardCharsets.UTF_8))
        .thenApply(parse)
        .thenApply(
            answer -> {
              checkError(answer.getApiErrorCode(), answer.getError(), expected);
              return answer;
            });
  }

  /**
   * Throws what an error means.
   *
   * @param code negative if there is none
   * @param expected those that are none
   */
  private void checkError(int code, @Nullable String error, int... expected) {
    if (error == null) {
      return;
    }
    for (int one : expected) {
      if (one == code) {
        return;
      }
    }
    if (code == NO_JETSTREAM || code == NO_JETSTREAM_FOR_ACCOUNT) {
      throw withoutJetStream(unavailable(error));
    }
    throw unavailable("refuses a request: " + FailureText.quoted(error));
  }

  /** A server switches it off by itself when it cannot write to its disk. */
  private StoreUnfitException withoutJetStream(Throwable cause) {
    return StoreUnfitException.notWritable(
        "JetStream is not enabled, for this account at least (store=%s). Start nats-server with -js, and enable JetStream for the account."
            .formatted(target),
        cause);
  }

  private StoreUnavailableException unavailable(String what) {
    return new StoreUnavailableException(message(what));
  }

  private StoreUnavailableException unavailable(String what, Throwable cause) {
    return new StoreUnavailableException(message(what), cause);
  }

  private String message(String what) {
    return "NATS "
        + FailureText.withoutFullStop(what)
        + " (store="
        + target
        + ", bucket="
        + target.bucket()
        + ").";
  }

  private CompletionStage<Message> send(String subject, @Nullable Headers headers, byte[] body) {
    Connection connection = connection();
    // The library does not count headers, and the server closes the connection on too long ones.
    long most = connection.getMaxPayload();
    int length = body.length + (headers == null ? 0 : headers.serializedLength());
    if (most > 0 && length > most) {
      connector.tooLong(connection);
      return CompletableFuture.failedFuture(
          unavailable(
              "takes no request of %s bytes, as of a lock with very many holders and waiters: max_payload of its servers is %s"
                  .formatted(length, most),
              new DocumentTooLargeException(length + " bytes")));
    }
    CompletableFuture<Message> answer;
    long heard = NatsConnector.heard(connection);
    try {
      // Longer than the wait: a request that the library gives up looks as if nobody had answered.
      answer =
          connection.requestWithTimeout(subject, headers, body, target.timeout().multipliedBy(2));
    } catch (IllegalStateException | IllegalArgumentException e) {
      RuntimeException cause = Objects.requireNonNullElse(connector.whyClosed(connection), e);
      return CompletableFuture.failedFuture(
          unavailable("takes no request: " + FailureText.said(cause), cause));
    }
    return connector
        .failingWithConnection(answer)
        .orTimeout(target.timeout().toMillis(), TimeUnit.MILLISECONDS)
        .handle(
            (message, failure) -> {
              if (failure == null) {
                return message;
              }
              Throwable cause = CompletionStages.cause(failure);
              if (cause instanceof TimeoutException) {
                connector.unanswered(connection, heard);
              }
              throw new CompletionException(failed(connection, cause));
            });
  }

  private RuntimeException failed(Connection connection, Throwable failure) {
    if (failure instanceof TimeoutException) {
      String told = connection.getLastError();
      return unavailable(
          "did not answer within "
              + DurationText.formatExact(target.timeout())
              + (told == null || told.isEmpty()
                  ? ""
                  : "; its last error was: " + FailureText.quoted(told)),
          failure);
    }
    if (failure instanceof IOException) {
      return unavailable("did not answer: " + FailureText.said(failure), failure);
    }
    return unavailable("has no stream that takes a request", failure);
  }

  /** Blocks for the timeout at most. */
  @Override
  public void close() {
    connector.close();
  }
}
