package io.mortise.dynamodb;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.StoreUnavailableException;
import io.mortise.StoreUnfitException;
import io.mortise.spi.StoreUrl;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.util.concurrent.TimeoutException;
import javax.net.ssl.SSLHandshakeException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import software.amazon.awssdk.awscore.exception.AwsErrorDetails;
import software.amazon.awssdk.core.exception.ApiCallTimeoutException;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.services.dynamodb.model.DynamoDbException;

class DynamoDbRefusalTest {
  private static final DynamoDbTarget TARGET =
      DynamoDbTarget.parse(StoreUrl.parse("dynamodb://eu-central-1/locks"));

  private static final DynamoDbTarget ENDPOINT =
      DynamoDbTarget.parse(
          StoreUrl.parse("dynamodb://vpce.example:443/locks?create=true&tls=true"));

  private static RuntimeException refused(int status, String code, String message) {
    return refused(status, code, message, TARGET);
  }

  private static RuntimeException refused(
      int status, String code, String message, DynamoDbTarget target) {
    AwsErrorDetails details =
        AwsErrorDetails.builder().errorCode(code).errorMessage(message).build();
    return DynamoDbRefusal.translated(
        DynamoDbException.builder().statusCode(status).awsErrorDetails(details).build(), target);
  }

  @ParameterizedTest
  @CsvSource({
    "400, ProvisionedThroughputExceededException",
    "400, RequestLimitExceeded",
    "400, ThrottlingException",
    "400, TransactionConflictException",
    "429, SomeProxy",
    "500, InternalServerError",
    "503, ServiceUnavailable",
  })
  void givenServiceThatCouldDoItLater_thenItIsUnavailable(int status, String code) {
    assertThat(refused(status, code, "slow down"))
        .isInstanceOf(StoreUnavailableException.class)
        .hasMessageContaining(code)
        .hasMessageContaining("slow down");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "UnrecognizedClientException",
        "InvalidSignatureException",
        "ExpiredTokenException",
        "AccessDeniedException"
      })
  void givenCredentialsThatDoNotSuffice_thenTheStoreIsUnfit(String code) {
    assertThat(refused(400, code, "no"))
        .isInstanceOf(StoreUnfitException.class)
        .hasMessageContaining("AWS credentials");
  }

  @Test
  void givenRefusalThatQuotesWhatWasSigned_thenItsFirstLineIsShown() {
    assertThat(refused(400, "InvalidSignatureException", "No.\nx-amz-security-token:s3cret\n"))
        .hasMessageContaining(": No. Check the key")
        .hasMessageNotContaining("s3cret");
  }

  @Test
  void givenRefusal_thenItsAdviceFitsTheUrl() {
    assertThat(refused(400, "InvalidSignatureException", "Wrong scope.", ENDPOINT))
        .hasMessageContaining(": Wrong scope. Check the key")
        .hasMessageContaining("the clock of this host, and the parameter region");
    assertThat(refused(400, "InvalidSignatureException", "Wrong scope."))
        .hasMessageEndingWith("and the clock of this host.");
    assertThat(refused(400, "AccessDeniedException", "no", ENDPOINT))
        .hasMessageEndingWith("DeleteItem, Query and, for create=true, CreateTable.");
    assertThat(refused(400, "AccessDeniedException", "no"))
        .hasMessageEndingWith("DeleteItem and Query.");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "To use assumed roles in the 'a.b' profile, the 'sts' service module must be on the class path",
        "To use web identity tokens, the 'sts' service module must be on the class path",
        "Profile file contained no credentials for profile 'shop'"
      })
  void givenCredentialsThatTheSdkWasPointedTo_thenItsReasonIsTold_andNothingElse(String reason) {
    assertThat(
            client(
                "Unable to load credentials from any of the providers in the chain A(b=[c]) : [X(): odd, Y(): "
                    + reason
                    + ": ProfileFile(sections=[s3cret])]",
                null))
        .isInstanceOf(StoreUnfitException.class)
        .hasMessageContaining("finds no credentials (store=dynamodb:eu-central-1/locks): " + reason)
        .hasMessageNotContaining("odd")
        .hasMessageNotContaining("s3cret");
  }

  @Test
  void givenRoleThatStsDoesNotGive_thenItsReasonIsTold() {
    assertThat(
            client(
                "Unable to load credentials from any of the providers in the chain A(b=[c]) : [X(): odd, WebIdentityTokenCredentialsProvider(): Not authorized to perform sts:AssumeRoleWithWebIdentity (Service: Sts, Status Code: 403, Request ID: 1), Z(): odd]",
                null))
        .isInstanceOf(StoreUnfitException.class)
        .hasMessageContaining(
            "(store=dynamodb:eu-central-1/locks): Not authorized to perform sts:AssumeRoleWithWebIdentity. Set")
        .hasMessageNotContaining("odd");
  }

  @Test
  void givenMissingTable_thenTheCommandThatMakesItIsTold() {
    assertThat(refused(400, "ResourceNotFoundException", "not found"))
        .isInstanceOf(StoreUnfitException.class)
        .hasMessageStartingWith("Table 'locks' is missing")
        .hasMessageContaining("create=true")
        .hasMessageContaining(
            "aws dynamodb create-table --region eu-central-1 --table-name locks --billing-mode PAY_PER_REQUEST")
        .hasMessageEndingWith("AttributeName=k,KeyType=RANGE");
  }

  @Test
  void givenItemThatIsTooLarge_orAnotherRefusal_thenItIsSaidWhatToChange() {
    assertThat(refused(400, "ValidationException", "Item size has exceeded the maximum"))
        .isInstanceOf(StoreUnavailableException.class)
        .hasMessageContaining("400 KB");
    assertThat(refused(400, "ValidationException", "odd"))
        .isInstanceOfSatisfying(
            StoreUnfitException.class, unfit -> assertThat(unfit.isNotWritable()).isFalse())
        .hasMessageStartingWith("What answers is not DynamoDB");
    assertMayEnd(refused(404, "", "<html>"), "What answers is not DynamoDB");
    assertMayEnd(
        DynamoDbRefusal.translated(
            DynamoDbException.builder().statusCode(404).message("no details").build(), TARGET),
        "What answers is not DynamoDB");
  }

  /** It is refused when the store is opened, and is an outage afterwards. */
  private static void assertMayEnd(RuntimeException refusal, String beginning) {
    assertThat(refusal)
        .isInstanceOfSatisfying(
            StoreUnfitException.class, unfit -> assertThat(unfit.isNotWritable()).isTrue())
        .hasMessageStartingWith(beginning);
  }

  @Test
  void givenFailureOfTheClient_thenItsReasonIsTold() {
    RuntimeException without = client("Unable to load credentials from any of the providers", null);
    assertMayEnd(without, "The AWS SDK finds no credentials");
    assertThat(without).hasMessageContaining("AWS_ACCESS_KEY_ID");
    assertThat(client("odd", null))
        .isInstanceOf(StoreUnavailableException.class)
        .hasMessageContaining("odd");
    assertThat(client("wrapped", new SocketTimeoutException("Read timed out")))
        .isInstanceOf(StoreUnavailableException.class)
        .hasMessageContaining("DynamoDB did not answer within 5s");
    assertThat(client("wrapped", new UnknownHostException("nowhere")))
        .isInstanceOf(StoreUnavailableException.class)
        .hasMessageContaining("unknown host 'nowhere'. Check the region");
    assertThat(client("wrapped", new SSLHandshakeException("not trusted")))
        .isInstanceOf(StoreUnfitException.class)
        .hasMessageContaining("TLS to DynamoDB fails")
        .hasMessageContaining("not trusted");
    assertThat(DynamoDbRefusal.translated(ApiCallTimeoutException.create(5000), TARGET))
        .isInstanceOf(StoreUnavailableException.class)
        .hasMessageContaining("did not answer within 5s");
    assertThat(DynamoDbRefusal.translated(new TimeoutException(), TARGET))
        .isInstanceOf(StoreUnavailableException.class)
        .hasMessageContaining("did not answer within 10s");
  }

  private static RuntimeException client(String message, Throwable cause) {
    return DynamoDbRefusal.translated(SdkClientException.create(message, cause), TARGET);
  }
}
