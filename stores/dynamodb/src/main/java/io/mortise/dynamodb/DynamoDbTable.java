package io.mortise.dynamodb;

import io.mortise.StoreUnavailableException;
import io.mortise.StoreUnfitException;
import io.mortise.internal.runtime.CompletionStages;
import io.mortise.spi.StoreReport;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeDefinition;
import software.amazon.awssdk.services.dynamodb.model.BillingMode;
import software.amazon.awssdk.services.dynamodb.model.KeySchemaElement;
import software.amazon.awssdk.services.dynamodb.model.KeyType;
import software.amazon.awssdk.services.dynamodb.model.MultiRegionConsistency;
import software.amazon.awssdk.services.dynamodb.model.ResourceInUseException;
import software.amazon.awssdk.services.dynamodb.model.ResourceNotFoundException;
import software.amazon.awssdk.services.dynamodb.model.ScalarAttributeType;
import software.amazon.awssdk.services.dynamodb.model.TableDescription;
import software.amazon.awssdk.services.dynamodb.model.TableStatus;

/** The table itself: whether it is there and suits, and what it tells of itself. Thread-safe. */
final class DynamoDbTable {
  private static final Duration PAUSE = Duration.ofMillis(200);

  /** Making a table takes some ten seconds; these are two minutes. */
  private static final int MOST_LOOKS = 600;

  private static final Set<TableStatus> USABLE = Set.of(TableStatus.ACTIVE, TableStatus.UPDATING);
  private static final String KEYS = "p:S:HASH k:S:RANGE";

  private final DynamoDbRequests requests;

  DynamoDbTable(DynamoDbRequests requests) {
    this.requests = requests;
  }

  /** The command that makes the table, for a person to paste. */
  static String command(DynamoDbTarget target) {
    return command(target, target.table());
  }

  private static String command(DynamoDbTarget target, String table) {
    return "aws dynamodb create-table %s --table-name %s --billing-mode PAY_PER_REQUEST --attribute-definitions AttributeName=p,AttributeType=S AttributeName=k,AttributeType=S --key-schema AttributeName=p,KeyType=HASH AttributeName=k,KeyType=RANGE"
        .formatted(where(target), table);
  }

  private static String where(DynamoDbTarget target) {
    return "--region "
        + target.region()
        + (target.endpoint() == null ? "" : " --endpoint-url " + target.endpoint());
  }

  /**
   * Waits until the table can be used, and makes it if the target says so. Blocks.
   *
   * @throws StoreUnfitException if it is missing, or has other keys
   * @throws StoreUnavailableException if it cannot be used in time
   */
  void open() {
    DynamoDbTarget target = requests.target();
    if (target.create()) {
      join(requests.send(this::make));
    }
    TableDescription table = join(requests.send(this::look));
    for (int looks = 0; table.tableStatus() == TableStatus.CREATING; looks++) {
      if (looks == MOST_LOOKS) {
        throw new StoreUnavailableException(
            "Table '%s' is still being made (store=%s). Try again later."
                .formatted(target.table(), target));
      }
      table =
          join(
              CompletableFuture.supplyAsync(
                      () -> requests.send(this::look),
                      CompletableFuture.delayedExecutor(
                          PAUSE.toMillis(), TimeUnit.MILLISECONDS, Runnable::run))
                  .thenCompose(stage -> stage));
    }
    if (!USABLE.contains(table.tableStatus())) {
      throw new StoreUnfitException(
          "Table '%s' is in status %s (store=%s). Make it usable, or name another."
              .formatted(target.table(), table.tableStatusAsString(), target));
    }
    if (!keys(table).equals(KEYS)) {
      throw new StoreUnfitException(
          "Table '%s' has other keys than those of locks (store=%s): '%s', not '%s'. Create another table, and name it in the URL: %s"
              .formatted(
                  target.table(), target, keys(table), KEYS, command(target, "OTHER-TABLE")));
    }
  }

  private static <T> T join(CompletionStage<T> stage) {
    try {
      return stage.toCompletableFuture().join();
    } catch (CompletionException e) {
      throw CompletionStages.cause(e) instanceof RuntimeException known ? known : e;
    }
  }

  private static String keys(TableDescription table) {
    return table.keySchema().stream()
        .map(key -> key.attributeName() + ":" + type(table, key) + ":" + key.keyTypeAsString())
        .collect(Collectors.joining(" "));
  }

  private static String type(TableDescription table, KeySchemaElement key) {
    return table.attributeDefinitions().stream()
        .filter(attribute -> attribute.attributeName().equals(key.attributeName()))
        .map(AttributeDefinition::attributeTypeAsString)
        .findFirst()
        .orElse("?");
  }

  /** Whether it was made. Another process may make it at the same time. */
  private boolean make(DynamoDbClient client) {
    try {
      describe(client);
      return false;
    } catch (ResourceNotFoundException missing) {
      try {
        client.createTable(
            request ->
                request
                    .tableName(requests.target().table())
                    .billingMode(BillingMode.PAY_PER_REQUEST)
                    .attributeDefinitions(
                        attribute(DynamoDbDocuments.PARTITION), attribute(DynamoDbDocuments.NAME))
                    .keySchema(
                        element(DynamoDbDocuments.PARTITION, KeyType.HASH),
                        element(DynamoDbDocuments.NAME, KeyType.RANGE))
                    .overrideConfiguration(requests.options()));
        return true;
      } catch (ResourceInUseException e) {
        return false;
      }
    }
  }

  private static AttributeDefinition attribute(String name) {
    return AttributeDefinition.builder()
        .attributeName(name)
        .attributeType(ScalarAttributeType.S)
        .build();
  }

  private static KeySchemaElement element(String name, KeyType type) {
    return KeySchemaElement.builder().attributeName(name).keyType(type).build();
  }

  /** A table that was just made may be missing for a while: looks are eventually consistent. */
  private TableDescription look(DynamoDbClient client) {
    try {
      return describe(client);
    } catch (ResourceNotFoundException e) {
      if (requests.target().create()) {
        return TableDescription.builder().tableStatus(TableStatus.CREATING).build();
      }
      throw e;
    }
  }

  private TableDescription describe(DynamoDbClient client) {
    return requests
        .proven(
            client.describeTable(
                request ->
                    request
                        .tableName(requests.target().table())
                        .overrideConfiguration(requests.options())))
        .table();
  }

  /** Reports the settings of the table that matter for locks. */
  CompletionStage<StoreReport> examine() {
    return requests.send(this::describe).thenApply(this::report);
  }

  private StoreReport report(TableDescription table) {
    StoreReport.Builder report =
        StoreReport.about("dynamodb")
            .fine("TableStatus", table.tableStatusAsString(), "The table can be used.");
    boolean onDemand =
        table.billingModeSummary() != null
            && table.billingModeSummary().billingMode() == BillingMode.PAY_PER_REQUEST;
    if (onDemand) {
      report.fine("BillingMode", "PAY_PER_REQUEST", "Each request is billed, polls too.");
    } else {
      report.note(
          "BillingMode",
          "PROVISIONED",
          "Beyond its capacity requests are refused: leases end if renewals are among them.",
          "Set the table to on-demand, or give it capacity for renewals and polls.");
    }
    replicas(table, report);
    if (Boolean.TRUE.equals(table.deletionProtectionEnabled())) {
      report.fine("DeletionProtection", "enabled", "Nobody deletes the table by mistake.");
    } else {
      report.note(
          "DeletionProtection",
          "disabled",
          "Whoever deletes the table frees all locks, and no holder is told.",
          "Enable it: aws dynamodb update-table %s --table-name %s --deletion-protection-enabled"
              .formatted(where(requests.target()), requests.target().table()));
    }
    return report.build();
  }

  private static void replicas(TableDescription table, StoreReport.Builder report) {
    List<String> regions = table.replicas().stream().map(replica -> replica.regionName()).toList();
    if (regions.isEmpty()) {
      report.fine("Replicas", "none", "The table is in one region.");
    } else if (table.multiRegionConsistency() == MultiRegionConsistency.STRONG) {
      report.note(
          "Replicas",
          String.join(", ", regions),
          "Writes are compared in all regions. No test shows it.",
          "");
    } else {
      report.weak(
          "Replicas",
          String.join(", ", regions),
          "Regions do not compare their writes: two processes that use different ones may both hold a lock.",
          "Use a table without replicas, or one region in all processes.",
          "partition-servers",
          "failover");
    }
  }
}
