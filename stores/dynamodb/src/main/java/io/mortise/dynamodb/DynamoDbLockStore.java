package io.mortise.dynamodb;

import io.mortise.StoreUnavailableException;
import io.mortise.StoreUnfitException;
import io.mortise.spi.LockStore;
import io.mortise.spi.StoreUrl;
import io.mortise.spi.time.Ticker;
import io.mortise.support.document.DocumentStore;
import io.mortise.support.document.VersionedDocuments;
import io.mortise.support.http.TlsMismatch;
import io.mortise.support.internal.document.ReportingStore;
import io.mortise.support.internal.server.TrustedCertificates;
import io.mortise.support.liveness.ForwardingStore;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.InstantSource;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.http.urlconnection.UrlConnectionHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.DynamoDbClientBuilder;
import software.amazon.awssdk.services.dynamodb.DynamoDbServiceClientConfiguration;

/** The store of documents in a table, which closes the client that it has made. Thread-safe. */
final class DynamoDbLockStore extends ForwardingStore {
  private static final int MOST_IN_FLIGHT = 16;
  private static final int MOST_RENEWALS = 4;

  /** Null if the application closes its client itself. */
  private final @Nullable DynamoDbClient owned;

  private DynamoDbLockStore(LockStore store, @Nullable DynamoDbClient owned) {
    super(store);
    this.owned = owned;
  }

  /** See {@link DynamoDbStore#open(String)}. */
  static LockStore connect(StoreUrl url, Ticker ticker, InstantSource wallClock) {
    DynamoDbTarget target = DynamoDbTarget.parse(url);
    DynamoDbClient client = client(target);
    try {
      return open(client, client, target, ticker, wallClock);
    } catch (StoreUnavailableException e) {
      throw target.endpoint() == null ? e : TlsMismatch.explained(target.http(), e);
    }
  }

  static DynamoDbClient client(DynamoDbTarget target) {
    UrlConnectionHttpClient.Builder http =
        UrlConnectionHttpClient.builder()
            .connectionTimeout(target.timeout())
            .socketTimeout(target.timeout());
    Path ca = target.ca();
    if (ca != null) {
      try {
        var trusted = TrustedCertificates.trustManagers(ca);
        http.tlsTrustManagersProvider(() -> trusted);
      } catch (IOException e) {
        throw new StoreUnfitException(
            "Cannot read certificates from '" + ca + "': " + e.getMessage() + ".", e);
      }
    }
    DynamoDbClientBuilder builder =
        DynamoDbClient.builder().httpClientBuilder(http).region(Region.of(target.region()));
    URI endpoint = target.endpoint();
    return (endpoint == null ? builder : builder.endpointOverride(endpoint)).build();
  }

  /** See {@link DynamoDbStore#over(DynamoDbClient, String, String)}. */
  static LockStore over(
      DynamoDbClient client,
      String table,
      String parameters,
      Ticker ticker,
      InstantSource wallClock) {
    DynamoDbServiceClientConfiguration its = client.serviceClientConfiguration();
    DynamoDbTarget target =
        DynamoDbTarget.parse(
            its.region().id(), table, parameters, its.endpointOverride().orElse(null));
    return open(client, null, target, ticker, wallClock);
  }

  private static LockStore open(
      DynamoDbClient client,
      @Nullable DynamoDbClient owned,
      DynamoDbTarget target,
      Ticker ticker,
      InstantSource wallClock) {
    AbsentVersions versions = new AbsentVersions(VersionedDocuments.timeOfDay(ticker, wallClock));
    DynamoDbRequests requests = new DynamoDbRequests(client, target, "requests", MOST_IN_FLIGHT);
    DynamoDbDocuments documents = new DynamoDbDocuments(requests, versions, ticker);
    DynamoDbDocuments renewals =
        new DynamoDbDocuments(
            new DynamoDbRequests(client, target, "renewals", MOST_RENEWALS), versions, ticker);
    DynamoDbTable table = new DynamoDbTable(requests);
    LockStore store =
        new DynamoDbLockStore(
            DocumentStore.clockless(
                DocumentStore.clocklessProfile(target.display(), target.timeout()),
                documents,
                renewals,
                ticker,
                wallClock),
            owned);
    return ReportingStore.checked(
        store,
        () -> {
          table.open();
          return documents.readFloor().thenCompose(known -> documents.checkAccess());
        },
        table::examine);
  }

  @Override
  public void close() {
    super.close();
    if (owned != null) {
      owned.close();
    }
  }
}
