"""A shell in which every variable of other software leads nowhere, or to other software."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

NOWHERE = "/nowhere"
_HOMES = (
    "AIRFLOW_CONFIG", "AIRFLOW_HOME", "CASSANDRA_HOME", "CLASSPATH", "GIT_DIR", "HADOOP_CLASSPATH",
    "HADOOP_COMMON_HOME", "HADOOP_HDFS_HOME", "HADOOP_HOME", "HADOOP_LOG_DIR", "HADOOP_PID_DIR",
    "HADOOP_TOKEN_FILE_LOCATION", "HADOOP_YARN_HOME", "HBASE_CLASSPATH", "HBASE_HOME", "HIVE_HOME",
    "JAVACMD", "JRE_HOME", "KRB5CCNAME", "KRB5_CONFIG", "KRB5_KTNAME", "LD_LIBRARY_PATH", "LD_PRELOAD",
    "M2_HOME", "MAPRED_HOME", "MAVEN_HOME", "PERL5LIB", "PYSPARK_DRIVER_PYTHON", "PYSPARK_PYTHON",
    "PYTHONPATH", "PYTHONSTARTUP", "SPARK_DIST_CLASSPATH", "SPARK_HOME", "SPARK_LOCAL_DIRS", "SPARK_LOG_DIR",
    "TMPDIR",
    "VIRTUAL_ENV", "YARN_HOME", "YARN_LOG_DIR", "ZOOKEEPER_HOME",
)  # fmt: skip
_JVM_FLAGS = (
    "HADOOP_CLIENT_OPTS", "HADOOP_OPTS", "HBASE_OPTS", "JAVA_OPTS", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS",
    "SPARK_DAEMON_JAVA_OPTS", "SPARK_JAVA_OPTS", "SPARK_LAUNCHER_OPTS", "SPARK_SUBMIT_OPTS", "YARN_OPTS",
    "_JAVA_OPTIONS",
)  # fmt: skip
_CONFIGURATIONS = (
    "HADOOP_CONF_DIR",
    "HBASE_CONF_DIR",
    "HDFS_CONF_DIR",
    "MAPRED_CONF_DIR",
    "YARN_CONF_DIR",
)
_WORDS = {
    "AIRFLOW__CORE__AUTH_MANAGER": "nowhere.Manager",
    "AIRFLOW__CORE__DAGS_FOLDER": NOWHERE,
    "AIRFLOW__CORE__EXECUTOR": "CeleryExecutor",
    "AIRFLOW__CORE__PLUGINS_FOLDER": NOWHERE,
    "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_ALL_ADMINS": "True",
    "AIRFLOW__CORE__UNIT_TEST_MODE": "True",
    "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": "postgresql://nobody@127.0.0.1:1/nothing",
    "AIRFLOW__LOGGING__REMOTE_LOGGING": "True",
    "AIRFLOW__SECRETS__BACKEND": "nowhere.Backend",
    "CDPATH": "/tmp:/",
    "HADOOP_PROXY_USER": "nobody",
    "HADOOP_ROOT_LOGGER": "nowhere",
    "HADOOP_USER_NAME": "nobody",
    "HTTP_PROXY": "http://192.0.2.1:1",
    "LANG": "tr_TR.ISO-8859-9",
    "LANGUAGE": "tr",
    "LC_ALL": "C",
    "MAVEN_ARGS": "--nowhere",
    "MAVEN_OPTS": "-Xmx1k -XX:+UseG1GC",
    "POSIXLY_CORRECT": "1",
    "PYSPARK_GATEWAY_PORT": "1",
    "PYSPARK_GATEWAY_SECRET": "x",
    "PYSPARK_SUBMIT_ARGS": "--master spark://127.0.0.1:1 pyspark-shell",
    "PYTHONIOENCODING": "ascii",
    "PYTHONOPTIMIZE": "2",
    "PYTHONWARNINGS": "error",
    "REDISCLI_AUTH": "x",
    "SPARK_LOCAL_IP": "192.0.2.1",
    "SPARK_MASTER": "spark://127.0.0.1:1",
    "SPARK_PUBLIC_DNS": "nowhere",
    "SPARK_TESTING": "1",
    "TERM": "nowhere",
    "TZ": "Pacific/Chatham",
    "BASH_FUNC_cd%%": "() { exit 9; }",
    "http_proxy": "http://192.0.2.1:1",
    "https_proxy": "http://192.0.2.1:1",
}


def hostile(folder: Path, kept: Mapping[str, str]) -> dict[str, str]:
    """All of it at once, with configurations in `folder` that name services which do not exist, and
    `kept`."""
    conf, spark, profile = folder / "conf", folder / "spark", folder / "profile.sh"
    for each in (conf, spark):
        each.mkdir()
    (conf / "core-site.xml").write_text(
        "<configuration><property><name>fs.defaultFS</name><value>hdfs://127.0.0.1:1</value></property>"
        "</configuration>"
    )
    (spark / "spark-defaults.conf").write_text("spark.hadoop.fs.defaultFS hdfs://127.0.0.1:1\n")
    (spark / "spark-env.sh").write_text("exit 9\n")
    profile.write_text("exit 9\n")
    return {
        **dict.fromkeys(_HOMES, NOWHERE),
        **dict.fromkeys(_JVM_FLAGS, "-Xmx1k"),
        **dict.fromkeys(_CONFIGURATIONS, str(conf)),
        **_WORDS,
        "SPARK_CONF_DIR": str(spark),
        "BASH_ENV": str(profile),
        "ENV": str(profile),
        **kept,
    }
