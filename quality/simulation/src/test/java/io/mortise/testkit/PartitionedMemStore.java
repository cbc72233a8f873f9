package io.mortise.testkit;

import io.mortise.LockName;
import io.mortise.spi.Capability;
import io.mortise.spi.LockStore;
import io.mortise.spi.StoreProfile;
import io.mortise.spi.time.Ticker;
import io.mortise.spi.time.WallClock;
import io.mortise.support.memory.MemStore;
import io.mortise.support.partition.PartitionRouter;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/** A store of several parts, each in memory behind its own link. */
public final class PartitionedMemStore implements PartitionRouter {
  public final List<StoreLink> parts;

  public PartitionedMemStore(int count) {
    parts =
        Stream.generate(() -> new StoreLink(new MemStore(Ticker.SYSTEM, WallClock.SYSTEM)))
            .limit(count)
            .toList();
  }

  public static StoreUnderTest underTest() {
    return new StoreUnderTest() {
      @Override
      public LockStore open() {
        return new PartitionedMemStore(3);
      }

      @Override
      public Set<Capability> capabilities() {
        return EnumSet.allOf(Capability.class);
      }
    };
  }

  @Override
  public StoreProfile profile() {
    return parts.get(0).profile();
  }

  @Override
  public int partitions() {
    return parts.size();
  }

  @Override
  public int partitionOf(LockName name) {
    return Math.floorMod(name.hashCode(), parts.size());
  }

  @Override
  public LockStore partition(int number) {
    return parts.get(number);
  }

  /** A name that lives in that part. */
  public String nameIn(int part) {
    return Stream.iterate(0, i -> i + 1)
        .map(i -> "lock/" + i)
        .filter(name -> partitionOf(LockName.of(name)) == part)
        .findFirst()
        .orElseThrow();
  }

  @Override
  public void close() {}
}
