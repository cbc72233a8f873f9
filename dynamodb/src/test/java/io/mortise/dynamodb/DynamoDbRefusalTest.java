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

  private static RuntimeException refused(int status, String code, String message) {
    AwsErrorDetails details =
        AwsErrorDetails.builder().errorCode(code).errorMessage(message).build();
    return DynamoDbRefusal.translated(
        DynamoDbException.builder().statusCode(status).awsErrorDetails(details).build(), TARGET);
  }

  @ParameterizedTest
  @CsvSource({
    "400, ProvisionedThroughputExceededException",
    "400, RequestLimitExceeded",
    "400, ThrottlingException",
    "400, TransactionConflictException",
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
    assertThat(refused(404, "", "<html>"))
        .isInstanceOf(StoreUnfitException.class)
        .hasMessageStartingWith("What answers is not DynamoDB");
    assertThat(
            DynamoDbRefusal.translated(
                DynamoDbException.builder().statusCode(404).message("no details").build(), TARGET))
        .isInstanceOf(StoreUnfitException.class);
  }

  @Test
  void givenFailureOfTheClient_thenItsReasonIsTold() {
    assertThat(client("Unable to load credentials from any of the providers", null))
        .isInstanceOf(StoreUnfitException.class)
        .hasMessageContaining("AWS_ACCESS_KEY_ID");
    assertThat(client("odd", null))
        .isInstanceOf(StoreUnavailableException.class)
        .hasMessageContaining("odd");
    assertThat(client("wrapped", new SocketTimeoutException("Read timed out")))
        .isInstanceOf(StoreUnavailableException.class)
        .hasMessageContaining("DynamoDB did not answer within 5s");
    assertThat(client("wrapped", new UnknownHostException("nowhere")))
        .isInstanceOf(StoreUnavailableException.class)
        .hasMessageContaining("nowhere");
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
