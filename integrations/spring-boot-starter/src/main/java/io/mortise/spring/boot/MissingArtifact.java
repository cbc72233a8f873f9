package io.mortise.spring.boot;

import java.util.List;
import java.util.stream.Stream;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.util.ClassUtils;

/**
 * A kind of bean that a store can be opened over, and its requirements.
 *
 * @param bean its class
 * @param artifact of Mortise that opens such stores
 * @param marker a class of that artifact
 */
record MissingArtifact(String bean, String artifact, String marker) {
  private static final List<MissingArtifact> ALL =
      List.of(
          new MissingArtifact("javax.sql.DataSource", "mortise-jdbc", "io.mortise.jdbc.JdbcStore"),
          new MissingArtifact(
              "org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory",
              "mortise-redis-lettuce",
              "io.mortise.redis.lettuce.LettuceStore"),
          new MissingArtifact(
              "org.apache.curator.framework.CuratorFramework",
              "mortise-zookeeper",
              "io.mortise.zookeeper.ZooKeeperStore"));

  /** A sentence on each of the application's beans that would do but lacks something. */
  static List<String> sentences(ListableBeanFactory beans) {
    return ALL.stream().flatMap(each -> each.sentence(beans)).toList();
  }

  Stream<String> sentence(ListableBeanFactory beans) {
    ClassLoader loader = MissingArtifact.class.getClassLoader();
    if (!ClassUtils.isPresent(bean, loader)) {
      return Stream.empty();
    }
    int count =
        beans.getBeanNamesForType(ClassUtils.resolveClassName(bean, loader), true, false).length;
    String type = bean.substring(bean.lastIndexOf('.') + 1);
    if (count == 0) {
      return Stream.empty();
    }
    if (!ClassUtils.isPresent(marker, loader)) {
      return Stream.of("There is a " + type + ", but " + artifact + " is not on the class path.");
    }
    return count == 1
        ? Stream.empty()
        : Stream.of("There are " + count + " beans of type " + type + ", and none is @Primary.");
  }
}
