package io.mortise.etcd;

import io.mortise.LockException;
import io.mortise.StoreUnavailableException;
import io.mortise.StoreUnfitException;
import io.mortise.etcd.JsonReader.JsonObject;
import io.mortise.internal.runtime.FailureText;
import io.mortise.support.document.DocumentTooLargeException;
import io.mortise.support.http.HttpServers.HttpResponse;
import org.jspecify.annotations.Nullable;

/** A refusal by etcd. {@link #translated} tells its meaning for a lock. */
final class EtcdRefusal extends Exception {
  private static final long serialVersionUID = 1L;

  // The codes of gRPC that etcd uses, and some of HTTP.
  private static final String INVALID_ARGUMENT = "3";
  private static final String PERMISSION_DENIED = "7";
  private static final String UNAUTHENTICATED = "16";
  private static final int OK = 200;
  private static final int NOT_FOUND = 404;
  private static final int TOO_MANY_REQUESTS = 429;
  private static final int SERVER_ERROR = 500;
  private static final int NOT_IMPLEMENTED = 501;

  private final String said;
  private final int status;
  private final String code;
  private final boolean isJson;
  private final String answer;

  /**
   * Takes an answer apart that is no result.
   *
   * @param response JSON, or any page of a server that has no gateway
   */
  EtcdRefusal(HttpResponse response) {
    this(response, error(response.body()));
  }

  private EtcdRefusal(HttpResponse response, @Nullable JsonObject error) {
    super(FailureText.quoted(error == null ? response.body() : error.text("message")));
    this.said = error == null ? response.body() : error.text("message");
    this.status = response.status();
    this.code = error == null ? "" : error.text("code");
    this.isJson = error != null;
    this.answer = response.described();
  }

  private static @Nullable JsonObject error(String body) {
    try {
      return JsonReader.read(body);
    } catch (IllegalArgumentException e) {
      return null;
    }
  }

  private boolean says(String part) {
    return said.contains(part);
  }

  /** Whether it wants another token; nothing was executed then. */
  boolean wantsToken() {
    return code.equals(UNAUTHENTICATED)
        || says("invalid auth token")
        || says("auth store is old")
        // The same before 3.5.5.
        || says("revision in header is old");
  }

  /** Whether it refuses how the request is made; nothing was executed then. */
  boolean isOfForm() {
    return code.equals(INVALID_ARGUMENT);
  }

  /** Whether a member refuses it that serves no clients until it has all data. */
  boolean isOfLearner() {
    return says("not supported for learner");
  }

  /** Whether another member may do what this one cannot, now. */
  boolean isOfMember() {
    return says("no leader") || says("leader changed") || says("timed out") || isOfLearner();
  }

  /** Whether no gateway of etcd answers so. A proxy before it may have errors of its own. */
  private boolean isOfAnotherServer() {
    return status == NOT_FOUND
        || (!isJson
            && status != TOO_MANY_REQUESTS
            && (status < SERVER_ERROR || status == NOT_IMPLEMENTED));
  }

  /** As the store tells it, with what to do. */
  LockException translated(String store) {
    if (says("HTTP request to an HTTPS server")) {
      return unfit(
          "Etcd speaks TLS, and the URL does not (store=%s). Add tls=true.".formatted(store));
    } else if (isOfAnotherServer()) {
      String message =
          "Etcd has no JSON gateway there (store=%s, %s). If another server has answered, correct host and port; else use etcd 3.4 or later, without --enable-grpc-gateway=false."
              .formatted(store, answer);
      // A proxy may answer with a page while it cannot reach etcd.
      return status == OK
          ? new StoreUnavailableException(message, this)
          : StoreUnfitException.notWritable(message, this);
    } else if (says("user name is empty")) {
      return unfit(
          "Etcd wants a user (store=%s). Write etcd://user:password@host:2379.".formatted(store));
    } else if (says("authentication is not enabled")) {
      return unfit(
          "Etcd knows no users, and the URL has one (store=%s). Leave it out, or enable authentication in etcd."
              .formatted(store));
    } else if (says("invalid user ID or password")) {
      return unfit("Etcd refuses the user or the password (store=%s).".formatted(store));
    } else if (code.equals(PERMISSION_DENIED)) {
      return unfit(
          "The user may not read and write the keys of this namespace (store=%s). Grant its role readwrite on them: etcdctl role grant-permission ROLE readwrite /mortise/ --prefix."
              .formatted(store));
    } else if (says("database space exceeded")) {
      return new StoreUnavailableException(
          "Etcd refuses all writes, because its database has reached its quota (store=%s). Compact its history, defragment, and disarm the alarm: etcdctl compact, defrag, alarm disarm."
              .formatted(store),
          this);
    } else if (says("request is too large") || says("message larger than max")) {
      return new StoreUnavailableException(
          "Etcd refuses a lock with so many holders and waiters (store=%s). Set max-request-bytes of its members higher."
              .formatted(store),
          new DocumentTooLargeException(this));
    }
    return new StoreUnavailableException(
        "Etcd refuses a request (store=%s, status=%s): %s."
            .formatted(store, status, FailureText.quoted(said)),
        this);
  }

  private StoreUnfitException unfit(String message) {
    return new StoreUnfitException(message, this);
  }
}
