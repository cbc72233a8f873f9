package io.mortise.dynamodb;

import io.mortise.LockException;
import io.mortise.StoreUnavailableException;
import io.mortise.StoreUnfitException;
import io.mortise.internal.runtime.FailureText;
import io.mortise.support.document.DocumentTooLargeException;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import software.amazon.awssdk.awscore.exception.AwsErrorDetails;
import software.amazon.awssdk.awscore.exception.AwsServiceException;
import software.amazon.awssdk.core.exception.ApiCallTimeoutException;
import software.amazon.awssdk.core.exception.SdkClientException;

/** Tells what a failed request means for a lock. */
final class DynamoDbRefusal {
  private static final int SERVER_ERROR = 500;

  /** The codes of a service that could do it at another time. */
  private static final Set<String> BUSY =
      Set.of(
          "ProvisionedThroughputExceededException",
          "RequestLimitExceeded",
          "ThrottlingException",
          "LimitExceededException",
          "ResourceInUseException",
          "TransactionConflictException",
          "ReplicatedWriteConflictException");

  private static final Set<String> UNKNOWN_CREDENTIALS =
      Set.of(
          "UnrecognizedClientException",
          "InvalidClientTokenId",
          "InvalidSignatureException",
          "IncompleteSignatureException",
          "MissingAuthenticationTokenException");

  /** Of a session that the SDK renews, or a clock that is set: they end without a change here. */
  private static final Set<String> PASSING_CREDENTIALS =
      Set.of(
          "ExpiredTokenException",
          "ExpiredToken",
          "RequestExpired",
          "RequestTimeTooSkewed",
          "RequestInTheFuture");

  /**
   * Sentences of the SDK on credentials that it was pointed to. Only these are shown: the whole is
   * long, and tells what it has read.
   */
  private static final List<Pattern> REASONS =
      List.of(
          Pattern.compile(
              "To use [^\\[\\]]{1,120}?, the '\\w+' service module must be on the class path"),
          // STS and the login by SSO; behind this stands the number of the request.
          Pattern.compile(
              "(?<=\\): )[^\\[\\]()]{1,300}(?= \\(Service: (?:Sts|Sso\\w*), Status Code)"),
          Pattern.compile("Profile property '[^']{1,80}' was not configured for '[^']{1,80}'"),
          Pattern.compile("Profile file contained no credentials for profile '[^']{1,80}'"));

  private DynamoDbRefusal() {}

  /** As the store tells it, with what to do. */
  static RuntimeException translated(Throwable failure, DynamoDbTarget target) {
    if (failure instanceof AwsServiceException refusal) {
      return refused(refusal, target);
    }
    for (Throwable at = failure; at != null; at = at.getCause()) {
      if (at instanceof ApiCallTimeoutException || at instanceof SocketTimeoutException) {
        SocketTimeoutException timeout = new SocketTimeoutException(at.getMessage());
        timeout.initCause(failure);
        return target.http().translated(timeout);
      } else if (at.getClass().getSimpleName().equals("JsonParseException")) {
        // Of a copy of Jackson in the SDK, for an answer of status 200.
        return StoreUnfitException.notWritable(
            "What answers is not DynamoDB, or a proxy before it answers (store=%s): the answer is not JSON. Check region and endpoint."
                .formatted(target),
            failure);
      } else if (at instanceof UnknownHostException && target.endpoint() == null) {
        return new StoreUnavailableException(
            "DynamoDB cannot be connected to (store=%s): unknown host '%s'. Check the region, and the name server of this host."
                .formatted(target, at.getMessage()),
            failure);
      } else if (at instanceof IOException) {
        return target.http().translated(at);
      }
    }
    if (failure instanceof SdkClientException) {
      String said = Objects.requireNonNullElse(failure.getMessage(), "");
      // A client that had some may have them again, as from the service that gives roles.
      return said.startsWith("Unable to load credentials")
          ? StoreUnfitException.notWritable(
              "The AWS SDK finds no credentials (store=%s)%s. Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, a profile, or a role of the host."
                  .formatted(target, reason(said)),
              failure)
          : new StoreUnavailableException(
              "A request to DynamoDB failed (store=%s): %s.".formatted(target, quoted(said)),
              failure);
    }
    return target.http().translated(failure);
  }

  /** Whether the clocks of this host and of the service differ too much; then nothing was done. */
  static boolean isOfClock(Throwable failure) {
    return failure instanceof AwsServiceException refusal && refusal.isClockSkewException();
  }

  /** Empty if the SDK was pointed to none. */
  private static String reason(String said) {
    for (Pattern pattern : REASONS) {
      Matcher found = pattern.matcher(said);
      if (found.find()) {
        return ": " + quoted(found.group());
      }
    }
    return "";
  }

  /**
   * As part of a sentence. The first line only: a refusal of a signature may quote what was signed,
   * with the session token in it.
   */
  private static String quoted(String said) {
    String line = said.strip().lines().findFirst().orElse("");
    return FailureText.withoutFullStop(FailureText.quoted(line));
  }

  private static LockException refused(AwsServiceException refusal, DynamoDbTarget target) {
    AwsErrorDetails details = refusal.awsErrorDetails();
    String code = details == null ? "" : Objects.requireNonNullElse(details.errorCode(), "");
    String said =
        quoted(
            Objects.requireNonNullElse(
                details == null ? null : details.errorMessage(), "no reason"));
    if (code.equals("ResourceNotFoundException")) {
      return new StoreUnfitException(
          "Table '%s' is missing (store=%s). Create it, or add create=true: %s"
              .formatted(target.table(), target, DynamoDbTable.command(target)),
          refusal);
    } else if (code.equals("AccessDeniedException")) {
      return new StoreUnfitException(
          "The AWS credentials may not use table '%s' (store=%s): %s. They need dynamodb:DescribeTable, GetItem, PutItem, DeleteItem%s."
              .formatted(
                  target.table(),
                  target,
                  said,
                  target.create() ? ", Query and, for create=true, CreateTable" : " and Query"),
          refusal);
    } else if (UNKNOWN_CREDENTIALS.contains(code) || PASSING_CREDENTIALS.contains(code)) {
      String message =
          "DynamoDB does not take the AWS credentials (store=%s): %s. Check the key, its session token, %s."
              .formatted(
                  target,
                  said,
                  target.endpoint() == null
                      ? "and the clock of this host"
                      : "the clock of this host, and the parameter region or the region of your client");
      return PASSING_CREDENTIALS.contains(code) || isOfClock(refusal)
          ? StoreUnfitException.notWritable(message, refusal)
          : new StoreUnfitException(message, refusal);
    } else if (said.contains("Item size")) {
      return new StoreUnavailableException(
          "DynamoDB refuses a lock with so many holders and waiters (store=%s): an item has 400 KB at most. Have fewer of them wait for one lock."
              .formatted(target),
          new DocumentTooLargeException(refusal));
    } else if (BUSY.contains(code)
        || refusal.isThrottlingException()
        || refusal.statusCode() >= SERVER_ERROR) {
      return new StoreUnavailableException(
          "DynamoDB refuses a request for now (store=%s, status=%s, code=%s): %s. If it throttles, raise the table's capacity, or use fewer locks in one namespace."
              .formatted(target, refusal.statusCode(), FailureText.quoted(code), said),
          refusal);
    }
    String message =
        "What answers is not DynamoDB, or refuses what a lock needs (store=%s, status=%s, code=%s): %s. Check region, endpoint and table."
            .formatted(target, refusal.statusCode(), FailureText.quoted(code), said);
    // Without a code it is a page, perhaps of a proxy that cannot reach DynamoDB now.
    return code.isEmpty()
        ? StoreUnfitException.notWritable(message, refusal)
        : new StoreUnfitException(message, refusal);
  }
}
