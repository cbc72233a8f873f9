package io.mortise.spring.boot;

import io.mortise.LockClient;
import io.mortise.LockClientBuilder;
import io.mortise.OuterLocks;
import io.mortise.Store;
import io.mortise.StoreUnavailableException;
import io.mortise.event.LockListener;
import io.mortise.spi.LockStore;
import io.mortise.spi.StoreReport;
import io.mortise.spi.StoreUrl;
import io.mortise.spring.boot.MortiseProperties.StoreKind;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.DisposableBean;

/**
 * Chooses the store, and opens the client over it. Spring closes the client first, then this, which
 * closes the store.
 */
final class LockClientOpener implements DisposableBean {
  private static final String REMEDY =
      "Set mortise.url, such as jdbc:postgresql://host/db?user=…&password=… or redis://host. Or add"
          + " mortise-jdbc beside a DataSource, mortise-redis-lettuce beside a"
          + " LettuceConnectionFactory, or mortise-zookeeper beside a CuratorFramework; of several"
          + " beans of one type, mark one as @Primary.";

  private final MortiseProperties properties;
  private final String applicationName;
  private final @Nullable Store supplied;
  private final @Nullable MortiseConnectionDetails details;
  private final List<StoreCandidate> candidates;
  private final Supplier<List<String>> unfitting;
  private final List<LockListener> listeners;
  private final @Nullable OuterLocks outer;

  private volatile @Nullable LockStore opened;

  /**
   * Opens nothing yet.
   *
   * @param supplied a store of the user, who closes it; null for none
   * @param details override the URL of the properties; null for none
   * @param candidates beans that a store can be opened over
   * @param unfitting a sentence on each bean that would be a candidate but lacks something
   * @param outer the locks of another library to hold as well; null for none
   */
  LockClientOpener(
      MortiseProperties properties,
      String applicationName,
      @Nullable Store supplied,
      @Nullable MortiseConnectionDetails details,
      List<StoreCandidate> candidates,
      Supplier<List<String>> unfitting,
      List<LockListener> listeners,
      @Nullable OuterLocks outer) {
    this.properties = properties;
    this.applicationName = applicationName;
    this.supplied = supplied;
    this.details = details;
    this.candidates = List.copyOf(candidates);
    this.unfitting = unfitting;
    this.listeners = List.copyOf(listeners);
    this.outer = outer;
  }

  /**
   * Opens the client. Once. Blocks.
   *
   * @throws LockStoreChoiceException if the properties are wrong, or name no store, or several
   * @throws io.mortise.StoreUnavailableException if the store cannot be reached
   * @throws io.mortise.StoreUnfitException if it can, but must not be used as it is
   */
  LockClient open() {
    try {
      LockClientBuilder builder = LockClient.builder().name(name());
      if (properties.ttl() != null) {
        builder.ttl(properties.ttl());
      }
      listeners.forEach(builder::listener);
      if (outer != null) {
        builder.alsoHolding(outer);
      }
      setStore(builder);
      return builder.build();
    } catch (IllegalArgumentException e) {
      throw new LockStoreChoiceException(
          "No lock client can be made of the properties mortise.*: " + e.getMessage(),
          "Correct the property, or add the artifact of the store.",
          e);
    }
  }

  /**
   * Reads the settings of the store's server, on a connection of its own if the store has a URL.
   * Changes nothing and leaves nothing: the client has opened the same URL before. Blocks.
   *
   * @throws StoreUnavailableException if the store does not answer
   */
  StoreReport examine() {
    LockStore own = supplied instanceof LockStore given ? given : opened;
    if (own != null) {
      return StoreReport.of(own);
    }
    try (LockStore another = LockStore.connect(StoreUrl.parse(Objects.requireNonNull(url())))) {
      return StoreReport.of(another);
    }
  }

  private @Nullable String url() {
    return details == null ? properties.url() : details.url();
  }

  private String name() {
    String name = properties.clientName();
    return name == null ? applicationName : name;
  }

  private void setStore(LockClientBuilder builder) {
    String url = url();
    if (supplied != null || url != null) {
      if (properties.namespace() != null) {
        throw new LockStoreChoiceException(
            "mortise.namespace is set, and has no effect on "
                + (supplied != null ? "a Store bean." : "a URL."),
            supplied != null
                ? "Open that store with the namespace, and remove the property."
                : "Add namespace=" + properties.namespace() + " to mortise.url, and remove it.");
      }
    }
    if (supplied != null) {
      builder.store(supplied);
    } else if (url != null) {
      builder.url(url);
    } else {
      LockStore store = chosen().opener().apply(properties);
      opened = store;
      builder.store(store);
    }
  }

  private StoreCandidate chosen() {
    StoreKind wanted = properties.storeBean();
    List<StoreCandidate> fitting =
        candidates.stream()
            .filter(each -> wanted == StoreKind.AUTO || each.kind() == wanted)
            .toList();
    if (fitting.size() == 1) {
      return fitting.get(0);
    }
    if (fitting.isEmpty()) {
      throw new LockStoreChoiceException(
          "The store of the locks is not known: mortise.url is not set, and no bean fits"
              + " mortise.store-bean="
              + wanted.text()
              + "."
              + unfitting.get().stream().map(each -> " " + each).collect(Collectors.joining()),
          REMEDY);
    }
    throw new LockStoreChoiceException(
        "Locks could be kept in several stores: "
            + fitting.stream()
                .map(each -> "over " + each.bean())
                .collect(Collectors.joining(", or "))
            + ".",
        "Set "
            + fitting.stream()
                .map(each -> "mortise.store-bean=" + each.kind().text())
                .collect(Collectors.joining(" or "))
            + ", or mortise.url.");
  }

  @Override
  public void destroy() {
    LockStore store = opened;
    if (store != null) {
      store.close();
    }
  }
}
